import type { Deployment, ReplicaSet } from '@castellan/machinery';
import { revisionOf } from './replica-set-annotations.js';
import { isSameTemplate } from './template-hash.js';

/** The ReplicaSets of a Deployment. */
export interface RolloutView {
  /** The one of its present template. */
  readonly current: ReplicaSet | undefined;
  /** All others, the oldest first. */
  readonly old: readonly ReplicaSet[];
}

/** Of several with the present template the oldest is the current one, so that a choice once made stays. */
export function rolloutView({ spec }: Deployment, replicaSets: readonly ReplicaSet[]): RolloutView {
  const byAge = replicaSets.toSorted(compareAges);
  const current = byAge.find((each) => isSameTemplate(each.spec?.template, spec?.template));
  return { current, old: byAge.filter((each) => each !== current) };
}

export function allOf({ current, old }: RolloutView): readonly ReplicaSet[] {
  return current === undefined ? old : [...old, current];
}

export function sizeOf({ spec }: ReplicaSet): number {
  return spec?.replicas ?? 1;
}

export function sumOf(replicaSets: readonly ReplicaSet[], count: (replicaSet: ReplicaSet) => number): number {
  return replicaSets.reduce((sum, each) => sum + count(each), 0);
}

export function availableOf({ status }: ReplicaSet): number {
  return status?.availableReplicas ?? 0;
}

/** The number of the rollout that has, or gets, the present template. */
export function presentRevision({ old }: RolloutView): number {
  return Math.max(0, ...old.map(revisionOf)) + 1;
}

function compareAges(a: ReplicaSet, b: ReplicaSet): number {
  const texts = ({ metadata }: ReplicaSet) => `${metadata.creationTimestamp ?? ''} ${metadata.name ?? ''}`;
  return texts(a) < texts(b) ? -1 : 1;
}
