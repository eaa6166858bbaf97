import type { DaemonSet, Node, Pod } from '@castellan/machinery';
import { hasEnded, isAvailable, isReady } from '../workloads/pod-state.js';
import { podsOf } from '../workloads/pods-of.js';
import { isUpdated, nodeNameOf } from './daemon-pod.js';
import { type NodeFit, nodeFit } from './node-fit.js';

/** So many pods are made, and deleted, at most in one pass. */
const mostAtOnce = 250;

export interface DaemonFacts {
  readonly set: DaemonSet;
  readonly nodes: readonly Node[];
  /** All that are the set's. */
  readonly pods: readonly Pod[];
  /** Of the revision of the present template. */
  readonly hash: string;
  readonly nowMs: number;
  /** A pod that fails again and again is not replaced at once. */
  readonly mayReplaceFailed: (pod: Pod) => boolean;
}

export interface DaemonPlan {
  /** Names of the nodes that are to get a pod. */
  readonly create: readonly string[];
  readonly delete: readonly Pod[];
  /** Of those to be deleted: they ended by themselves, which is told. */
  readonly failed: readonly Pod[];
  readonly succeeded: readonly Pod[];
}

/** A node and the set's pods on it, the oldest first. */
export interface DaemonNode extends NodeFit {
  readonly name: string;
  readonly pods: readonly Pod[];
}

/** What is to be made and deleted now: one pod for each node that is to have one, of the present template as far as the strategy lets. */
export function planDaemons(facts: DaemonFacts): DaemonPlan {
  const places = daemonNodes(facts);
  const managed = manage(facts, places);
  const touched = new Set([...managed.create, ...managed.delete.map(nodeNameOf)]);
  // What was just decided of a node comes first; the update goes on when it is done.
  const isRolling = (facts.set.spec?.updateStrategy?.type ?? 'RollingUpdate') === 'RollingUpdate';
  const update = isRolling ? rollingUpdate(facts, places) : { create: [], delete: [] };
  const free = ({ create, delete: pods }: typeof update) => ({
    create: create.filter((name) => !touched.has(name)),
    delete: pods.filter((pod) => !touched.has(nodeNameOf(pod))),
  });
  const rest = free(update);
  return {
    ...managed,
    create: [...managed.create, ...rest.create].slice(0, mostAtOnce),
    delete: [...managed.delete, ...rest.delete].slice(0, mostAtOnce),
  };
}

/** Every node with the set's pods on it; what has ended and is being deleted counts no more. */
export function daemonNodes({ set, nodes, pods }: Pick<DaemonFacts, 'set' | 'nodes' | 'pods'>): readonly DaemonNode[] {
  const byNode = new Map<string, Pod[]>();
  for (const pod of pods) {
    const name = nodeNameOf(pod);
    if (name === undefined || (isLeaving(pod) && hasEnded(pod))) continue;
    const there = byNode.get(name) ?? [];
    byNode.set(name, there);
    there.push(pod);
  }
  return nodes.map((node) => {
    const { name = '' } = node.metadata;
    return { name, ...nodeFit(set, node), pods: (byNode.get(name) ?? []).toSorted(compareAges) };
  });
}

/** One pod where there is to be one, none elsewhere. Source: podsShouldBeOnNode of upstream's daemonset controller. */
function manage(facts: DaemonFacts, places: readonly DaemonNode[]): DaemonPlan {
  const create: string[] = [];
  const remove: Pod[] = [];
  const failed: Pod[] = [];
  const succeeded: Pod[] = [];
  for (const { name, pods, shouldRun, mayStay } of places) {
    if (shouldRun && pods.length === 0) create.push(name);
    const present = pods.filter((pod) => !isLeaving(pod));
    if (!mayStay) {
      remove.push(...present);
      continue;
    }
    failed.push(...present.filter((pod) => pod.status?.phase === 'Failed' && facts.mayReplaceFailed(pod)));
    succeeded.push(...present.filter((pod) => pod.status?.phase === 'Succeeded'));
    const running = present.filter((pod) => !hasEnded(pod));
    if (surgeOf(facts.set, 1) === 0) remove.push(...running.slice(1));
    else if (running.length === 0 && shouldRun && pods.length > 0 && present.length === 0) create.push(name);
    else remove.push(...surplus(facts, running));
  }
  const known = new Set(places.map(({ name }) => name));
  const homeless = facts.pods.filter((pod) => isWaitingFor(pod, known));
  return { create, delete: [...remove, ...failed, ...succeeded, ...homeless], failed, succeeded };
}

/** With surge a node may have an old and a new pod: the old one as long as it is ready and the new one not available. */
function surplus({ set, hash, nowMs }: DaemonFacts, running: readonly Pod[]): readonly Pod[] {
  if (running.length <= 1) return [];
  const newPod = running.find((pod) => isUpdated(set, pod, hash));
  const oldPod = running.find((pod) => !isUpdated(set, pod, hash));
  const twins = running.filter((pod) => pod !== newPod && pod !== oldPod);
  if (newPod === undefined || oldPod === undefined) return twins;
  const isDone = !isReady(oldPod) || isAvailable(newPod, set.spec?.minReadySeconds ?? 0, nowMs);
  return isDone ? [...twins, oldPod] : twins;
}

/** Bound to no node, and for one that is not there: nobody will ever bind it. */
function isWaitingFor(pod: Pod, nodes: ReadonlySet<string>): boolean {
  const name = nodeNameOf(pod);
  return !isLeaving(pod) && (pod.spec?.nodeName ?? '') === '' && name !== undefined && !nodes.has(name);
}

interface Update {
  readonly create: readonly string[];
  readonly delete: readonly Pod[];
}

/** Source: rollingUpdate of upstream's daemonset controller. */
function rollingUpdate(facts: DaemonFacts, places: readonly DaemonNode[]): Update {
  const wanted = places.filter(({ shouldRun }) => shouldRun).length;
  const surge = surgeOf(facts.set, wanted);
  return surge === 0
    ? replaced(facts, places, Math.max(1, unavailableOf(facts.set, wanted)))
    : surged(facts, places, surge);
}

/** Old pods that are not available go at once, others as far as so many nodes may be without an available one. */
function replaced(facts: DaemonFacts, places: readonly DaemonNode[], mostUnavailable: number): Update {
  const isUp = (pod: Pod) => isAvailable(pod, facts.set.spec?.minReadySeconds ?? 0, facts.nowMs);
  let unavailable = 0;
  const broken: Pod[] = [];
  const candidates: Pod[] = [];
  for (const place of places) {
    if (!place.shouldRun && place.pods.length === 0) continue;
    const { newPods, oldPods } = byRevision(facts, place);
    const [oldPod] = oldPods;
    if (newPods.length + oldPods.length !== 1) unavailable += 1;
    else if (oldPod === undefined) unavailable += newPods.every(isUp) ? 0 : 1;
    else if (isUp(oldPod)) candidates.push(oldPod);
    else {
      broken.push(oldPod);
      unavailable += 1;
    }
  }
  return { create: [], delete: [...broken, ...candidates.slice(0, Math.max(0, mostUnavailable - unavailable))] };
}

/** New pods come beside old ones that are available, on so many nodes at once, and in the place of those that are not. */
function surged(facts: DaemonFacts, places: readonly DaemonNode[], mostSurging: number): Update {
  const isUp = (pod: Pod) => isAvailable(pod, facts.set.spec?.minReadySeconds ?? 0, facts.nowMs);
  let surging = 0;
  const broken: string[] = [];
  const candidates: string[] = [];
  const done: Pod[] = [];
  for (const place of places) {
    const { newPods, oldPods } = byRevision(facts, place);
    const [oldPod] = oldPods;
    const [newPod] = newPods;
    if (newPods.length > 1 || oldPods.length > 1) surging += 1;
    else if (oldPod === undefined) continue;
    else if (newPod !== undefined && isUp(newPod)) done.push(oldPod);
    else if (newPod !== undefined) surging += 1;
    else if (place.shouldRun) (isUp(oldPod) ? candidates : broken).push(place.name);
  }
  return { create: [...broken, ...candidates.slice(0, Math.max(0, mostSurging - surging))], delete: done };
}

function byRevision({ set, hash }: DaemonFacts, { pods }: DaemonNode) {
  const present = pods.filter((pod) => !isLeaving(pod));
  return {
    newPods: present.filter((pod) => isUpdated(set, pod, hash)),
    oldPods: present.filter((pod) => !isUpdated(set, pod, hash)),
  };
}

function surgeOf({ spec }: DaemonSet, nodes: number): number {
  const { type = 'RollingUpdate', rollingUpdate: limits } = spec?.updateStrategy ?? {};
  return type === 'RollingUpdate' ? podsOf(limits?.maxSurge ?? 0, nodes, Math.ceil) : 0;
}

function unavailableOf({ spec }: DaemonSet, nodes: number): number {
  return podsOf(spec?.updateStrategy?.rollingUpdate?.maxUnavailable ?? 1, nodes, Math.ceil);
}

function isLeaving({ metadata }: Pod): boolean {
  return metadata.deletionTimestamp !== undefined;
}

/** Those that have a node before those that wait for one. */
function compareAges(a: Pod, b: Pod): number {
  const rank = (pod: Pod) => ((pod.spec?.nodeName ?? '') === '' ? 1 : 0);
  const text = ({ metadata }: Pod) => `${metadata.creationTimestamp ?? ''} ${metadata.name ?? ''}`;
  return rank(a) - rank(b) || (text(a) < text(b) ? -1 : 1);
}
