import { isStatusError, type ObjectMeta, resourceName } from '@castellan/machinery';
import type { ComponentContext } from '../component.js';
import type { ServedResource } from '../discovery.js';

/** Told of every object of one resource; must be quick and must not throw. */
export interface MetadataSink {
  /** Everything there is now: whatever was known before and is not among these is gone. */
  onListed(objects: readonly ObjectMeta[]): void;
  onChanged(object: ObjectMeta): void;
  onDeleted(object: ObjectMeta): void;
}

const pageSize = 500;
const shortestWatchSeconds = 300;
const silenceMarginMs = 30_000;
const firstBackoffMs = 200;
const longestBackoffMs = 30_000;
/** A stream that ends sooner without an event counts as failed: else a broken server would be asked in a tight loop. */
const shortestUsefulWatchMs = 1_000;

/**
 * Follows the metadata of one resource until `signal` aborts: a list, then watches from its revision, each resumed where
 * the last one ended. A revision that the server has forgotten (410) leads to a new list; any other failure to a pause
 * that grows.
 */
export async function followMetadata(
  resource: ServedResource,
  sink: MetadataSink,
  { client, world, log }: ComponentContext,
  signal: AbortSignal,
): Promise<void> {
  let revision: string | undefined;
  let failures = 0;
  while (!signal.aborted) {
    try {
      if (revision === undefined) {
        const listed = await list();
        sink.onListed(listed.objects);
        revision = listed.revision;
      }
      if (await watch()) failures = 0;
      else failures++;
    } catch (error) {
      if (signal.aborted) return;
      failures++;
      if (isStatusError(error, 'Expired', 'Gone')) revision = undefined;
      else log.debug('watch failed', { resource: resourceName(resource), failures, error: String(error) });
      if (revision === undefined && failures === 1) continue;
    }
    if (failures > 0 && !signal.aborted) await pause();
  }

  async function list() {
    const objects: ObjectMeta[] = [];
    let page: string | undefined;
    for (;;) {
      const options = {
        limit: pageSize,
        metadataOnly: true,
        signal,
        ...(page === undefined ? {} : { continue: page }),
      };
      const { items, metadata } = await client.list(resource, options);
      for (const item of items) objects.push(item.metadata);
      page = metadata.continue;
      if (page === undefined || page === '') return { objects, revision: metadata.resourceVersion ?? '' };
    }
  }

  /** One stream, until it ends; whether it was of use. */
  async function watch(): Promise<boolean> {
    const timeoutSeconds = Math.round(shortestWatchSeconds * (1 + world.random.next()));
    const stream = new AbortController();
    const cancelSilence = world.clock.after(timeoutSeconds * 1_000 + silenceMarginMs, () => stream.abort());
    const startedMs = world.clock.monotonicNow();
    let hasEvents = false;
    try {
      const events = client.watch(resource, {
        ...(revision === undefined ? {} : { resourceVersion: revision }),
        allowWatchBookmarks: true,
        metadataOnly: true,
        timeoutSeconds,
        signal: AbortSignal.any([signal, stream.signal]),
      });
      for await (const { type, object } of events) {
        hasEvents = true;
        failures = 0;
        revision = object.metadata.resourceVersion ?? revision;
        if (type === 'DELETED') sink.onDeleted(object.metadata);
        else if (type !== 'BOOKMARK') sink.onChanged(object.metadata);
      }
    } catch (error) {
      if (signal.aborted || !stream.signal.aborted) throw error;
    } finally {
      cancelSilence();
    }
    return hasEvents || world.clock.monotonicNow() - startedMs >= shortestUsefulWatchMs;
  }

  async function pause(): Promise<void> {
    const backoffMs = Math.min(longestBackoffMs, firstBackoffMs * 2 ** Math.min(failures, 10));
    await world.clock.sleep(backoffMs * (0.5 + world.random.next() / 2), signal).catch(() => undefined);
  }
}
