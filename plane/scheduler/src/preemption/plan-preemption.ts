import { type Pod, podDisruptionBudgets } from '@castellan/machinery';
import { type ChooseOptions, tally } from '../choose-node.js';
import { ChangedCluster } from '../cluster/changed-cluster.js';
import type { NodeView } from '../cluster/node-view.js';
import { priorityOf } from '../cluster/pod-facts.js';
import { fitCheck } from '../fit-check.js';
import { type Refusal, refused, type Scene, type SchedulerPlugin } from '../plugin.js';
import { splitByBudgets } from './disruption-budgets.js';

export type PreemptionPlan =
  | { readonly kind: 'preempt'; readonly nodeName: string; readonly victims: readonly Pod[] }
  /** `message` goes behind the reasons why no node would do, and is empty where there is no node. `isFutile`: there is nothing to wait for on a nominated node. */
  | { readonly kind: 'none'; readonly message: string; readonly isFutile: boolean };

interface Candidate {
  readonly node: NodeView;
  /** The most important first. */
  readonly victims: readonly Pod[];
  readonly violations: number;
}

/** At least as many nodes are tried, and at least this share of them. As upstream. */
const leastTried = 100;
const shareTried = 0.1;

/**
 * Which pods of lower priority would have to go, from which node, so that the pod could run there: as few and as unimportant as may
 * be, and without going beyond a PodDisruptionBudget where that can be helped. Writes nothing.
 * Source: Kubernetes, "Pod Priority and Preemption".
 */
export function planPreemption(
  pod: Pod,
  refusals: ReadonlyMap<string, Refusal>,
  scene: Scene,
  options: ChooseOptions,
): PreemptionPlan {
  if (refusals.size === 0) return { kind: 'none', message: '', isFutile: true };
  const excuse = ineligibility(pod, refusals, scene);
  if (excuse !== undefined) return { kind: 'none', message: ` preemption: ${excuse}`, isFutile: false };
  const { nodes } = scene.cluster;
  const outcomes = new Map<string, Refusal>(nodes.map(({ name }) => [name, notHelpful]));
  const candidates: Candidate[] = [];
  for (const node of nodesToTry(refusals, scene, options)) {
    const found = findVictims(pod, node, scene, options.plugins);
    if ('victims' in found) candidates.push(found);
    else outcomes.set(node.name, found);
  }
  const best = leastHarm(candidates);
  if (best !== undefined) return { kind: 'preempt', nodeName: best.node.name, victims: best.victims };
  return {
    kind: 'none',
    message: ` preemption: 0/${nodes.length} nodes are available: ${tally(outcomes.values())}.`,
    isFutile: true,
  };
}

const notHelpful = refused('Preemption is not helpful for scheduling');
const nobodyToGo = refused('No preemption victims found for incoming pod');

/** Why the pod may not have others go, or not now. */
function ineligibility(pod: Pod, refusals: ReadonlyMap<string, Refusal>, { cluster }: Scene): string | undefined {
  if (pod.spec?.preemptionPolicy === 'Never') return 'not eligible due to preemptionPolicy=Never.';
  const nominated = cluster.node(cluster.nominationOf(pod) ?? '');
  if (nominated === undefined || refusals.get(nominated.name)?.isHelpedByPreemption === false) return undefined;
  for (const other of nominated.pods) {
    if (priorityOf(other) < priorityOf(pod) && isGoingForAnother(other)) {
      return 'not eligible due to a terminating pod on the nominated node.';
    }
  }
  return undefined;
}

function isGoingForAnother({ metadata, status }: Pod): boolean {
  if (metadata.deletionTimestamp === undefined) return false;
  return (status?.conditions ?? []).some(
    ({ type, status: state, reason }) =>
      type === 'DisruptionTarget' && state === 'True' && reason === 'PreemptionByScheduler',
  );
}

/** From a place that chance gives, so that not always the same nodes are tried. */
function nodesToTry(
  refusals: ReadonlyMap<string, Refusal>,
  { cluster }: Scene,
  { random }: ChooseOptions,
): readonly NodeView[] {
  const hopeful = cluster.nodes.filter(({ name }) => refusals.get(name)?.isHelpedByPreemption === true);
  const most = Math.max(leastTried, Math.floor(hopeful.length * shareTried));
  if (hopeful.length <= most) return hopeful;
  const offset = Math.floor(random.next() * hopeful.length);
  return [...hopeful.slice(offset), ...hopeful.slice(0, offset)].slice(0, most);
}

/** All of lower priority go; then as many as possible come back, those first whose going would break a budget. */
function findVictims(pod: Pod, node: NodeView, scene: Scene, plugins: readonly SchedulerPlugin[]): Candidate | Refusal {
  const lower = [...node.pods].filter((other) => priorityOf(other) < priorityOf(pod)).sort(byImportance);
  if (lower.length === 0) return nobodyToGo;
  const changed = node.copy();
  for (const other of lower) changed.remove(other);
  const refusal = refusalOn(pod, changed, scene, plugins);
  if (refusal !== undefined) return refusal;
  const { violating, others } = splitByBudgets(lower, scene.cache.list(podDisruptionBudgets));
  const victims: Pod[] = [];
  let violations = 0;
  for (const other of [...violating, ...others]) {
    changed.add(other);
    if (refusalOn(pod, changed, scene, plugins) === undefined) continue;
    changed.remove(other);
    victims.push(other);
    if (violating.includes(other)) violations += 1;
  }
  return { node, victims: victims.sort(byImportance), violations };
}

function refusalOn(
  pod: Pod,
  changed: NodeView,
  scene: Scene,
  plugins: readonly SchedulerPlugin[],
): Refusal | undefined {
  const then = { ...scene, cluster: new ChangedCluster(scene.cluster, changed) };
  return fitCheck(pod, then, plugins).refusalOf(changed);
}

/** Higher priority first, then who runs longer. */
function byImportance(a: Pod, b: Pod): number {
  return priorityOf(b) - priorityOf(a) || (startOf(a) < startOf(b) ? -1 : startOf(a) > startOf(b) ? 1 : 0);
}

/** Times of one form compare as text; a pod that has not started is the newest. */
function startOf({ status }: Pod): string {
  return status?.startTime ?? '9999-12-31T23:59:59Z';
}

/** Each decides among those that the ones before hold for equal; less is better. */
const harms: readonly ((candidate: Candidate) => number)[] = [
  ({ violations }) => violations,
  ({ victims }) => Math.max(...victims.map(priorityOf)),
  ({ victims }) => victims.reduce((total, victim) => total + priorityOf(victim) + 2 ** 31, 0),
  ({ victims }) => victims.length,
  ({ victims }) => -latestStart(victims),
];

function latestStart(victims: readonly Pod[]): number {
  const highest = Math.max(...victims.map(priorityOf));
  const starts = victims.filter((victim) => priorityOf(victim) === highest).map(startOf);
  return Math.min(...starts.map((start) => Date.parse(start)));
}

function leastHarm(candidates: readonly Candidate[]): Candidate | undefined {
  let rest = candidates;
  for (const harm of harms) {
    if (rest.length < 2) break;
    const least = Math.min(...rest.map(harm));
    rest = rest.filter((candidate) => harm(candidate) === least);
  }
  return rest[0];
}
