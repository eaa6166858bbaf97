import type { Pod } from '@castellan/machinery';
import type { Random } from '@castellan/world';
import type { NodeView } from './cluster/node-view.js';
import { type FitCheck, fitCheck } from './fit-check.js';
import type { Refusal, Scene, SchedulerPlugin } from './plugin.js';

export type Choice =
  | { readonly kind: 'node'; readonly nodeName: string }
  | {
      readonly kind: 'none';
      /** What `kubectl describe pod` shows, in upstream's words. */
      readonly message: string;
      /** The plugins that refused a node: a change that matters to one of them may help. */
      readonly refusedBy: ReadonlySet<string>;
      /** By the name of the node. */
      readonly refusals: ReadonlyMap<string, Refusal>;
    };

export interface ChooseOptions {
  readonly plugins: readonly SchedulerPlugin[];
  /** Decides among equals. */
  readonly random: Random;
}

/** Where a pod goes: the best of the nodes that it can run on, or why there is none. Writes nothing. */
export function chooseNode(pod: Pod, scene: Scene, options: ChooseOptions): Choice {
  const { nodes } = scene.cluster;
  if (nodes.length === 0) {
    const refusedBy = new Set(options.plugins.map(({ name }) => name));
    return { kind: 'none', message: 'no nodes available to schedule pods', refusedBy, refusals: new Map() };
  }
  const check = fitCheck(pod, scene, options.plugins);
  const promised = scene.cluster.node(scene.cluster.nominationOf(pod) ?? '');
  if (promised !== undefined && check.refusalOf(promised) === undefined) {
    return { kind: 'node', nodeName: promised.name };
  }
  const refusals = new Map<string, Refusal>();
  const feasible: NodeView[] = [];
  for (const node of nodes) {
    const refusal = check.refusalOf(node);
    if (refusal === undefined) feasible.push(node);
    else refusals.set(node.name, refusal);
  }
  const best = bestNode(pod, feasible, scene, options);
  if (best !== undefined) return { kind: 'node', nodeName: best.name };
  return { kind: 'none', message: fitMessage(nodes.length, refusals, check), refusedBy: check.refusedBy, refusals };
}

function fitMessage(nodeCount: number, refusals: ReadonlyMap<string, Refusal>, { general }: FitCheck): string {
  const why = general === undefined ? tally(refusals.values()) : general.reasons.join(', ');
  return `0/${nodeCount} nodes are available: ${why}.`;
}

/** How many nodes each reason was given for. */
export function tally(refusals: Iterable<Refusal>): string {
  const counts = new Map<string, number>();
  for (const { reasons } of refusals) for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return [...counts]
    .map(([reason, count]) => `${count} ${reason}`)
    .sort()
    .join(', ');
}

/** The node with the most points from all plugins together; chance decides among equals. */
function bestNode(
  pod: Pod,
  feasible: readonly NodeView[],
  scene: Scene,
  { plugins, random }: ChooseOptions,
): NodeView | undefined {
  if (feasible.length < 2) return feasible[0];
  const totals = feasible.map(() => 0);
  for (const { weight = 1, scoresOf } of plugins) {
    const scores = scoresOf?.(pod, feasible, scene) ?? [];
    scores.forEach((score, index) => {
      totals[index] = (totals[index] ?? 0) + weight * score;
    });
  }
  const most = Math.max(...totals);
  const best = feasible.filter((_, index) => totals[index] === most);
  return best[Math.floor(random.next() * best.length)];
}
