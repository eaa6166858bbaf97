import { type PersistentVolumeClaim, type Pod, persistentVolumeClaims, type StatefulSet } from '@castellan/machinery';
import type { Reader } from '@castellan/runtime';
import { isAvailable } from '../workloads/pod-state.js';
import { isOfEarlierPod, planOwners } from './claim-owners.js';
import { isWanted, type Observed, type PodView } from './plan-set.js';
import { claimNameOf, claimTemplatesOf, hasIdentity, ordinalOf, podNameOf, revisionOf } from './pod-identity.js';
import type { SetView } from './set-view.js';

export interface SetParts {
  readonly set: StatefulSet;
  readonly view: SetView;
  /** By ordinal. */
  readonly pods: ReadonlyMap<number, Pod>;
  readonly cache: Reader;
  readonly nowMs: number;
}

export function podsByOrdinal(set: StatefulSet, pods: readonly Pod[]): ReadonlyMap<number, Pod> {
  const byOrdinal = new Map<number, Pod>();
  for (const pod of pods) {
    const ordinal = ordinalOf(set, pod);
    if (ordinal !== undefined) byOrdinal.set(ordinal, pod);
  }
  return byOrdinal;
}

/** What the planner needs to know; all of it is in the cache. */
export function observeSet(parts: SetParts, currentRevision: string, updateRevision: string): Observed {
  const { set, view, pods } = parts;
  const left = Array.from({ length: view.replicas }, (_, index) => view.start + index).filter(
    (ordinal) => !pods.has(ordinal) && hasLeftClaims(parts, ordinal),
  );
  return {
    pods: [...pods].map(([ordinal, pod]) => viewOfPod(parts, pod, ordinal)),
    currentRevision,
    updateRevision,
    leftClaims: new Set(view.retention.deleteWhenScaled ? left : []),
  };

  function hasLeftClaims({ cache }: SetParts, ordinal: number): boolean {
    return claimsOf(set, ordinal, cache).some(
      ({ claim }) => claim !== undefined && isOfEarlierPod(claim, podNameOf(set, ordinal)),
    );
  }
}

export interface NamedClaim {
  readonly name: string;
  readonly template: PersistentVolumeClaim;
  /** `undefined` when there is none. */
  readonly claim: PersistentVolumeClaim | undefined;
}

/** The claims of a pod, one for each template of the set. */
export function claimsOf(set: StatefulSet, ordinal: number, cache: Reader): readonly NamedClaim[] {
  const { namespace = '' } = set.metadata;
  return claimTemplatesOf(set).map((template) => {
    const name = claimNameOf(set, template, ordinal);
    return { name, template, claim: cache.get(persistentVolumeClaims, { namespace, name }) };
  });
}

/** Claims that are missing or on their way out: when they change, there is something to do. */
export function awaitedClaims({ set, view, pods, cache }: SetParts): readonly string[] {
  if (claimTemplatesOf(set).length === 0) return [];
  const ordinals = Array.from({ length: view.replicas }, (_, index) => view.start + index);
  const lacking = ordinals.filter((ordinal) => pods.get(ordinal)?.status?.phase !== 'Running');
  return lacking
    .flatMap((ordinal) => claimsOf(set, ordinal, cache))
    .filter(({ claim }) => claim === undefined || claim.metadata.deletionTimestamp !== undefined)
    .map(({ name }) => name);
}

function viewOfPod({ set, view, cache, nowMs }: SetParts, pod: Pod, ordinal: number): PodView {
  const { status, metadata } = pod;
  const phase = phaseOf(pod);
  const isCondemned = !isWanted(view, ordinal);
  const claims = claimsOf(set, ordinal, cache);
  const hasClaims = phase !== 'pending' || claims.every(({ claim }) => claim !== undefined);
  const areOwned = claims.every(
    ({ claim }) => claim === undefined || planOwners(claim, set, { pod, isCondemned }, view.retention).kind === 'keep',
  );
  return {
    ordinal,
    revision: revisionOf(pod),
    phase,
    isAvailable: status?.phase === 'Running' && isAvailable(pod, view.minReadySeconds, nowMs),
    isTerminating: metadata.deletionTimestamp !== undefined,
    isAsItShouldBe: areOwned && (isCondemned || (hasClaims && hasIdentity(set, pod, ordinal))),
  };
}

function phaseOf({ status }: Pod): PodView['phase'] {
  if (status?.phase === 'Succeeded' || status?.phase === 'Failed') return 'ended';
  return status?.phase === 'Running' ? 'running' : 'pending';
}
