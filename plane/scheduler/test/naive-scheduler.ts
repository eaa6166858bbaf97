import { labelSelectorOf, matchesLabels, type Node, type Pod } from '@castellan/machinery';

/** Where each pod is, by the name of the node; a cluster as plainly as can be. */
export interface PlainCluster {
  readonly nodes: readonly Node[];
  readonly placed: readonly { readonly pod: Pod; readonly nodeName: string }[];
}

interface PlainTerm {
  readonly labelSelector?: object;
  readonly topologyKey: string;
}

/** The nodes that a pod may go to, found by looking at everything for each: no view, no index, no plugin. */
export function naiveNodes(pod: Pod, cluster: PlainCluster): readonly string[] {
  return cluster.nodes.filter((node) => mayGo(pod, node, cluster)).map(({ metadata }) => metadata.name ?? '');
}

function mayGo(pod: Pod, node: Node, cluster: PlainCluster): boolean {
  const isTainted = (node.spec?.taints ?? []).length > 0 && (pod.spec?.tolerations ?? []).length === 0;
  return !isTainted && hasCpu(pod, node, cluster) && isFarEnough(pod, node, cluster) && isSpread(pod, node, cluster);
}

function hasCpu(pod: Pod, node: Node, { placed }: PlainCluster): boolean {
  const there = placed.filter(({ nodeName }) => nodeName === node.metadata.name).map((each) => each.pod);
  const cores = (each: Pod) => Number(each.spec?.containers[0]?.resources?.requests?.cpu ?? 0);
  const total = [pod, ...there].reduce((sum, each) => sum + cores(each), 0);
  return cores(pod) === 0 || total <= Number(node.status?.allocatable?.cpu);
}

function isFarEnough(pod: Pod, node: Node, { nodes, placed }: PlainCluster): boolean {
  const awayOf = (each: Pod): readonly PlainTerm[] =>
    each.spec?.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  const nearOf = (each: Pod): readonly PlainTerm[] =>
    each.spec?.affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  const isTogether = (term: PlainTerm, nodeName: string) => {
    const other = nodes.find(({ metadata }) => metadata.name === nodeName)?.metadata.labels?.[term.topologyKey];
    return other !== undefined && other === node.metadata.labels?.[term.topologyKey];
  };
  const isKept = placed.every(
    ({ pod: other, nodeName }) =>
      !awayOf(pod).some((term) => isTogether(term, nodeName) && isMeant(term, other)) &&
      !awayOf(other).some((term) => isTogether(term, nodeName) && isMeant(term, pod)),
  );
  const onNodes = placed.filter(({ nodeName }) => nodes.some(({ metadata }) => metadata.name === nodeName));
  const isNear = nearOf(pod).every((term) => {
    if (node.metadata.labels?.[term.topologyKey] === undefined) return false;
    const friends = onNodes.filter(({ pod: other }) => isMeant(term, other));
    const housed = friends.filter(({ nodeName }) =>
      nodes.some(({ metadata }) => metadata.name === nodeName && metadata.labels?.[term.topologyKey] !== undefined),
    );
    if (housed.length === 0) return isMeant(term, pod);
    return housed.some(({ nodeName }) => isTogether(term, nodeName));
  });
  return isKept && isNear;
}

function isSpread(pod: Pod, node: Node, { nodes, placed }: PlainCluster): boolean {
  return (pod.spec?.topologySpreadConstraints ?? []).every((constraint) => {
    const domainOf = (name: string | undefined) =>
      nodes.find(({ metadata }) => metadata.name === name)?.metadata.labels?.[constraint.topologyKey];
    const counts = new Map<string, number>();
    for (const { metadata } of nodes) {
      const domain = domainOf(metadata.name);
      if (domain !== undefined) counts.set(domain, 0);
    }
    for (const { pod: other, nodeName } of placed) {
      const domain = domainOf(nodeName);
      if (domain !== undefined && isMeant(constraint, other)) counts.set(domain, (counts.get(domain) ?? 0) + 1);
    }
    const domain = domainOf(node.metadata.name);
    if (domain === undefined) return false;
    const own = isMeant(constraint, pod) ? 1 : 0;
    return (counts.get(domain) ?? 0) + own - Math.min(...counts.values()) <= constraint.maxSkew;
  });
}

function isMeant({ labelSelector = {} }: { readonly labelSelector?: object }, pod: Pod): boolean {
  return matchesLabels(labelSelectorOf(labelSelector), pod.metadata.labels);
}
