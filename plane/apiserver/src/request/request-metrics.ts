import type { Keyspace } from '@castellan/keyspace';
import type { Registry } from '../registry/registry.js';
import { rangeOfPrefix } from '../storage/keys.js';
import type { RequestInfo } from './request-info.js';

/** Upper bounds in seconds, as kube-apiserver's; and one for all. */
const durationBounds = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
];

interface Series {
  readonly labels: string;
  /** By status. */
  readonly codes: Map<number, number>;
  readonly buckets: number[];
  durationsSum: number;
}

/**
 * How often each kind of request was made, how it ended and how long it took. Watches and other streams are counted when they
 * end, and not timed. Names are kube-apiserver's, so that dashboards written for it work.
 */
export class RequestMetrics {
  readonly #series = new Map<string, Series>();

  count(request: { readonly verb: string; readonly info: RequestInfo }, status: number, seconds?: number): void {
    const series = this.#seriesOf(request.verb, request.info);
    series.codes.set(status, (series.codes.get(status) ?? 0) + 1);
    if (seconds === undefined) return;
    series.durationsSum += seconds;
    const bucket = durationBounds.findIndex((bound) => seconds <= bound);
    const index = bucket < 0 ? durationBounds.length : bucket;
    series.buckets[index] = (series.buckets[index] ?? 0) + 1;
  }

  #seriesOf(verb: string, info: RequestInfo): Series {
    const key =
      info.type === 'path'
        ? verb
        : `${verb} ${info.group} ${info.version} ${info.plural} ${info.subresource} ${scopeOf(info)}`;
    const known = this.#series.get(key);
    if (known !== undefined) return known;
    const labels = labelsOf(verb, info);
    const series = { labels, codes: new Map(), buckets: durationBounds.map(() => 0).concat(0), durationsSum: 0 };
    // Names that clients make up would otherwise be kept for ever.
    if (this.#series.size < maxSeries) this.#series.set(key, series);
    return series;
  }

  lines(): readonly string[] {
    const series = [...this.#series.values()];
    return [
      ...heading('apiserver_request_total', 'counter', 'Requests that were answered.'),
      ...series.flatMap(({ labels, codes }) =>
        [...codes].map(([code, count]) => `apiserver_request_total{code="${code}",${labels}} ${count}`),
      ),
      ...heading('apiserver_request_duration_seconds', 'histogram', 'Time from the request to the end of its reply.'),
      ...series.filter(({ buckets }) => buckets.some((count) => count > 0)).flatMap(histogram),
    ];
  }
}

const maxSeries = 2_000;

function histogram({ labels, buckets, durationsSum }: Series): readonly string[] {
  const name = 'apiserver_request_duration_seconds';
  let below = 0;
  const counts = buckets.map((count, index) => {
    below += count;
    return `${name}_bucket{${labels},le="${durationBounds[index] ?? '+Inf'}"} ${below}`;
  });
  return [...counts, `${name}_sum{${labels}} ${durationsSum}`, `${name}_count{${labels}} ${below}`];
}

function labelsOf(verb: string, info: RequestInfo): string {
  const labels =
    info.type === 'path'
      ? { verb: verb.toUpperCase() }
      : {
          group: info.group,
          resource: info.plural,
          scope: scopeOf(info),
          subresource: info.subresource,
          verb: verb.toUpperCase(),
          version: info.version,
        };
  return Object.entries(labels)
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    .join(',');
}

function scopeOf(info: RequestInfo): string {
  if (info.type === 'path') return '';
  if (info.name !== undefined) return 'resource';
  return info.namespace === undefined ? 'cluster' : 'namespace';
}

export function heading(name: string, type: 'counter' | 'gauge' | 'histogram', help: string): readonly string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];
}

/** Objects that are stored, by resource. */
export async function storedObjects({
  registry,
  keyspace,
}: {
  readonly registry: Registry;
  readonly keyspace: Keyspace;
}): Promise<readonly string[]> {
  const definitions = await registry.definitions();
  const counts = definitions.map(async (definition) => {
    const resource = await registry.find(definition);
    if (resource === undefined) return undefined;
    const { prefix } = resource.store.layout;
    const { count } = await keyspace.range(rangeOfPrefix(prefix), { countOnly: true });
    const { group, plural } = definition;
    return `apiserver_storage_objects{resource="${group === '' ? plural : `${plural}.${group}`}"} ${count}`;
  });
  const lines = (await Promise.all(counts)).filter((line) => line !== undefined);
  return [...heading('apiserver_storage_objects', 'gauge', 'Objects that are stored.'), ...new Set(lines)];
}
