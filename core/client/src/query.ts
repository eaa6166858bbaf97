import type { ListOptions, ReadOptions, WatchOptions, WriteOptions } from './client.js';

type Parameters = Readonly<Record<string, string | number | boolean | undefined>>;

/** `?a=1&b=2` of the parameters that are there, or nothing. */
function queryOf(parameters: Parameters): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== '') query.set(name, String(value));
  }
  const text = query.toString();
  return text === '' ? '' : `?${text}`;
}

export function readQuery(options: ReadOptions): string {
  return queryOf({ resourceVersion: options.resourceVersion });
}

export function listQuery(options: ListOptions): string {
  return queryOf({
    labelSelector: options.labelSelector,
    fieldSelector: options.fieldSelector,
    limit: options.limit,
    continue: options.continue,
    resourceVersion: options.resourceVersion,
    resourceVersionMatch: options.resourceVersionMatch,
  });
}

export function watchQuery(options: WatchOptions, timeoutSeconds: number): string {
  return queryOf({
    watch: true,
    labelSelector: options.labelSelector,
    fieldSelector: options.fieldSelector,
    resourceVersion: options.resourceVersion,
    resourceVersionMatch: options.resourceVersionMatch,
    sendInitialEvents: options.sendInitialEvents,
    allowWatchBookmarks: options.allowWatchBookmarks,
    timeoutSeconds,
  });
}

export function writeQuery(options: WriteOptions, force?: boolean): string {
  return queryOf({
    fieldManager: options.fieldManager,
    fieldValidation: options.fieldValidation,
    dryRun: options.dryRun === true ? 'All' : undefined,
    force: force === true ? true : undefined,
  });
}
