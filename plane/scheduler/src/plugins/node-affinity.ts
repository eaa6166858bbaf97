import { matchesNodeSelectorTerm, nodes, type PodSpec } from '@castellan/machinery';
import { hint, refused, type SchedulerPlugin } from '../plugin.js';
import { isWantedNode } from './node-selector.js';
import { share } from './normalize.js';

/** nodeSelector and node affinity, demanded and preferred. Source: Kubernetes, "Assigning Pods to Nodes". */
export const nodeAffinity: SchedulerPlugin = {
  name: 'NodeAffinity',
  weight: 2,
  hints: [
    hint({
      type: nodes,
      mayHelp: ({ spec }, change) =>
        isWantedNode(spec, change.object) && (change.kind !== 'updated' || !isWantedNode(spec, change.previous)),
    }),
  ],
  filterOf: ({ spec }) => {
    const required = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
    if (spec?.nodeSelector === undefined && required === undefined) return undefined;
    const names = namedNodes(spec);
    const unnamed = refused("node(s) didn't satisfy plugin(s) [NodeAffinity]");
    const refusal = refused("node(s) didn't match Pod's node affinity/selector");
    return ({ name, node }) => {
      if (names?.has(name) === false) return unnamed;
      return isWantedNode(spec, node) ? undefined : refusal;
    };
  },
  scoresOf: ({ spec }, feasible) => {
    const preferred = spec?.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
    if (preferred.length === 0) return undefined;
    const total = feasible.map(({ node }) =>
      preferred
        .filter(({ preference }) => matchesNodeSelectorTerm(preference, node))
        .reduce((score, { weight }) => score + weight, 0),
    );
    return share(total);
  },
};

/** The nodes that a pod of a DaemonSet names, one by its every term; `undefined` where some term names none. */
function namedNodes(spec: PodSpec | undefined): ReadonlySet<string> | undefined {
  const required = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const names = new Set<string>();
  for (const { matchFields = [] } of required?.nodeSelectorTerms ?? []) {
    const byName = matchFields.filter(({ key, operator }) => key === 'metadata.name' && operator === 'In');
    if (byName.length === 0) return undefined;
    for (const { values = [] } of byName) for (const name of values) names.add(name);
  }
  return names.size === 0 ? undefined : names;
}
