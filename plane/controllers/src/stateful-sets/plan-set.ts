import type { SetView } from './set-view.js';

/** A pod of the set as it is. */
export interface PodView {
  readonly ordinal: number;
  /** `undefined` when it says none. */
  readonly revision: string | undefined;
  /** `ended`: for good, well or not. */
  readonly phase: 'pending' | 'running' | 'ended';
  /** Ready for as long as the set asks. */
  readonly isAvailable: boolean;
  readonly isTerminating: boolean;
  /** Its labels and volumes, and its claims' owners, are what they should be. */
  readonly isAsItShouldBe: boolean;
}

export interface Observed {
  readonly pods: readonly PodView[];
  readonly currentRevision: string;
  readonly updateRevision: string;
  /** Ordinals without a pod whose claims are about to go with an earlier pod. */
  readonly leftClaims: ReadonlySet<number>;
}

export type SetStep =
  | { readonly kind: 'create'; readonly ordinal: number; readonly revision: string }
  /** Gives a pod its identity back, makes claims that it lacks, and puts their owners right. */
  | { readonly kind: 'repair'; readonly ordinal: number }
  | { readonly kind: 'delete'; readonly ordinal: number; readonly because: 'it has ended' | 'scale' | 'update' };

export interface SetPlan {
  /** One after the other; what is in one of them may be done at once, unless the set is ordered. A failure ends it. */
  readonly phases: readonly (readonly SetStep[])[];
  /** For people, when there is something to wait for. */
  readonly waitsFor?: string;
}

/**
 * What to do about the pods of a set now. Ordered sets: nothing is done to a pod before all pods with lower ordinals are
 * available, and pods that are too many go one by one from the highest, and only then are others replaced. A pod that never
 * becomes ready stops all that, even when its template was put right (kubernetes/kubernetes#67250): it is for a person to
 * delete it. Parallel sets: what is missing is made and what is too many ends at once. Source: Kubernetes, "StatefulSets".
 */
export function planSet(set: SetView, observed: Observed): SetPlan {
  const replicas = replicasOf(set, observed);
  const condemned = [...observed.pods.filter(({ ordinal }) => !isWanted(set, ordinal))].sort(byOrdinalDown);
  const living = set.isOrdered ? planOneByOne(set, replicas, observed) : planAtOnce(set, replicas, observed);
  if (living.waitsFor !== undefined) return living;
  const repairs = condemned.filter(({ isAsItShouldBe }) => !isAsItShouldBe).map(repair);
  const ends = set.isOrdered ? planEndOfHighest(set, condemned) : planEndOfAll(condemned);
  const phases = [...living.phases, repairs, ...ends.phases];
  if (ends.waitsFor !== undefined) return { phases, waitsFor: ends.waitsFor };
  const updates = planUpdate(set, replicas, observed.updateRevision);
  return { phases: [...phases, updates] };
}

export function isWanted({ start, replicas }: SetView, ordinal: number): boolean {
  return ordinal >= start && ordinal < start + replicas;
}

/** Which revision a pod of an ordinal is made of, when it has to be made. */
function revisionFor(set: SetView, ordinal: number, { currentRevision, updateRevision }: Observed): string {
  const isHeldBack = set.update.kind === 'rolling' && ordinal < set.start + set.update.partition;
  return isHeldBack ? currentRevision : updateRevision;
}

interface Replica {
  readonly ordinal: number;
  readonly pod: PodView | undefined;
}

function replicasOf(set: SetView, { pods }: Observed): readonly Replica[] {
  const byOrdinal = new Map(pods.map((pod) => [pod.ordinal, pod]));
  return Array.from({ length: set.replicas }, (_, index) => {
    const ordinal = set.start + index;
    return { ordinal, pod: byOrdinal.get(ordinal) };
  });
}

function planOneByOne(set: SetView, replicas: readonly Replica[], observed: Observed): SetPlan {
  const steps: SetStep[] = [];
  for (const replica of replicas) {
    steps.push(...stepsFor(replica, set, observed));
    const waitsFor = waitingFor(set, replica, observed);
    if (waitsFor !== undefined) return { phases: [steps], waitsFor };
  }
  return { phases: [steps] };
}

function planAtOnce(set: SetView, replicas: readonly Replica[], observed: Observed): SetPlan {
  return { phases: [replicas.flatMap((replica) => stepsFor(replica, set, observed))] };
}

function stepsFor({ ordinal, pod }: Replica, set: SetView, observed: Observed): readonly SetStep[] {
  if (pod === undefined) {
    if (observed.leftClaims.has(ordinal)) return [];
    return [{ kind: 'create', ordinal, revision: revisionFor(set, ordinal, observed) }];
  }
  if (pod.phase === 'ended') return pod.isTerminating ? [] : [{ kind: 'delete', ordinal, because: 'it has ended' }];
  const mayRepair = !set.isOrdered || pod.phase === 'pending' || (pod.isAvailable && !pod.isTerminating);
  return mayRepair && !pod.isAsItShouldBe ? [repair(pod)] : [];
}

/** What an ordered set waits for before it goes on to the next ordinal. */
function waitingFor({ name }: SetView, { ordinal, pod }: Replica, { leftClaims }: Observed): string | undefined {
  const pronoun = `pod ${name}-${ordinal}`;
  if (pod === undefined) {
    return leftClaims.has(ordinal) ? `the claims of ${pronoun} to be deleted` : `${pronoun} to be available`;
  }
  if (pod.isTerminating || pod.phase === 'ended') return `${pronoun} to be gone`;
  return pod.isAvailable ? undefined : `${pronoun} to be available`;
}

/**
 * In an ordered set one pod ends at a time, from the highest; one that serves nobody is waited for unless it is the lowest such.
 * One that has ended never will serve: upstream waits for it all the same, for ever when there are two.
 */
function planEndOfHighest({ name }: SetView, condemned: readonly PodView[]): SetPlan {
  const [highest] = condemned;
  if (highest === undefined) return { phases: [] };
  const { ordinal } = highest;
  if (highest.isTerminating) return { phases: [], waitsFor: `pod ${name}-${ordinal} to be gone` };
  const lowestUnavailable = condemned.findLast((pod) => !pod.isAvailable || pod.isTerminating);
  if (!highest.isAvailable && highest.phase !== 'ended' && highest !== lowestUnavailable) {
    return { phases: [], waitsFor: `pod ${name}-${lowestUnavailable?.ordinal ?? ordinal} to be available` };
  }
  const phases = [[{ kind: 'delete', ordinal, because: 'scale' } as const]];
  return { phases, waitsFor: `pod ${name}-${ordinal} to be gone` };
}

function planEndOfAll(condemned: readonly PodView[]): SetPlan {
  const ending = condemned.filter(({ isTerminating }) => !isTerminating);
  return { phases: [ending.map(({ ordinal }) => ({ kind: 'delete', ordinal, because: 'scale' }))] };
}

/**
 * Which pods of an older revision end, from the highest, so that no more than `maxUnavailable` are missing. Parallel sets
 * end those first that serve nobody anyway, all of them: that costs nothing. Source: KEP-961.
 */
function planUpdate(set: SetView, replicas: readonly Replica[], updateRevision: string): readonly SetStep[] {
  if (set.update.kind === 'on delete') return [];
  const { partition, maxUnavailable } = set.update;
  const missing = replicas.filter(({ pod }) => pod === undefined || !pod.isAvailable || pod.isTerminating).length;
  const old = replicas
    .slice(partition)
    .flatMap(({ pod }) => (pod === undefined || pod.revision === updateRevision || pod.isTerminating ? [] : [pod]))
    .sort(byOrdinalDown);
  const useless = set.isOrdered ? [] : old.filter(({ isAvailable, phase }) => !isAvailable && phase !== 'ended');
  const others = old.filter(({ isAvailable }) => isAvailable).slice(0, Math.max(0, maxUnavailable - missing));
  return [...useless, ...others].map(({ ordinal }) => ({ kind: 'delete', ordinal, because: 'update' }));
}

function repair({ ordinal }: PodView): SetStep {
  return { kind: 'repair', ordinal };
}

function byOrdinalDown(a: PodView, b: PodView): number {
  return b.ordinal - a.ordinal;
}
