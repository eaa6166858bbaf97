import type { Pod } from '@castellan/machinery';

export interface ResolverFileOptions {
  readonly clusterDomain: string;
  /** Where cluster DNS listens. */
  readonly nameServer: string;
  /** The machine's own /etc/resolv.conf. */
  readonly machineFile: string;
}

interface Resolver {
  readonly servers: readonly string[];
  readonly searches: readonly string[];
  readonly options: readonly string[];
}

/** What C libraries read of a file, and kubelet therefore writes: the rest is left out. */
const limits = { servers: 3, searches: 32, searchBytes: 2_048 } as const;

/** /etc/resolv.conf of a pod's containers, by `dnsPolicy` and, in addition to it, `dnsConfig`. */
export function resolverFile(pod: Pod, options: ResolverFileOptions): string {
  const { dnsPolicy = 'ClusterFirst', dnsConfig = {} } = pod.spec ?? {};
  const base = baseOf(dnsPolicy, pod, options);
  const added = (dnsConfig.options ?? []).map(({ name = '', value }) =>
    value === undefined ? name : `${name}:${value}`,
  );
  const names = new Set(added.map(optionName));
  const file: Resolver = {
    servers: unique([...base.servers, ...(dnsConfig.nameservers ?? [])]).slice(0, limits.servers),
    searches: withinLimits(unique([...base.searches, ...(dnsConfig.searches ?? [])])),
    options: [...base.options.filter((option) => !names.has(optionName(option))), ...added],
  };
  return [
    ...(file.searches.length === 0 ? [] : [`search ${file.searches.join(' ')}`]),
    ...file.servers.map((server) => `nameserver ${server}`),
    ...(file.options.length === 0 ? [] : [`options ${file.options.join(' ')}`]),
    '',
  ].join('\n');
}

/** A pod of the node's network without `ClusterFirstWithHostNet` resolves as the node does. */
function baseOf(policy: string, { metadata, spec }: Pod, options: ResolverFileOptions): Resolver {
  if (policy === 'None') return { servers: [], searches: [], options: [] };
  const machine = parseResolver(options.machineFile);
  if (policy === 'Default' || (policy === 'ClusterFirst' && spec?.hostNetwork === true)) return machine;
  const service = `svc.${options.clusterDomain}`;
  return {
    servers: [options.nameServer],
    searches: [`${metadata.namespace}.${service}`, service, options.clusterDomain, ...machine.searches],
    options: ['ndots:5'],
  };
}

function parseResolver(text: string): Resolver {
  const lines = text.split('\n').map((line) => line.trim().split(/\s+/));
  const after = (keyword: string) => lines.filter(([first]) => first === keyword).map(([, ...rest]) => rest);
  return {
    servers: after('nameserver').flatMap(([server]) => server ?? []),
    searches: (after('search').at(-1) ?? []).filter((search) => search !== '.'),
    options: after('options').flat(),
  };
}

function withinLimits(searches: readonly string[]): readonly string[] {
  const kept: string[] = [];
  let bytes = 0;
  for (const search of searches.slice(0, limits.searches)) {
    bytes += search.length + 1;
    if (bytes - 1 > limits.searchBytes) break;
    kept.push(search);
  }
  return kept;
}

function optionName(option: string): string {
  return option.split(':')[0] ?? '';
}

function unique(values: readonly string[]): readonly string[] {
  return [...new Set(values)];
}
