import type { ObjectMeta, OwnerReference } from '@castellan/machinery';
import { foregroundFinalizer, type GraphNode, orphanFinalizer, phaseOf } from './owner-graph.js';

/**
 * What a live look at an owner found.
 * - `present`: it exists and is not waiting for its dependents.
 * - `waiting`: it exists and its foreground deletion waits for its dependents.
 * - `absent`: the server says that there is no such object with this uid.
 * - `elsewhere`: not where the reference says, but an object with this uid exists in another place.
 * - `unknown`: its kind is not served (now), so nobody can say.
 * - `unreachable`: a cluster-scoped object names a namespaced kind; a reference has no namespace to look in.
 */
export type OwnerState = 'present' | 'waiting' | 'absent' | 'elsewhere' | 'unknown' | 'unreachable';

export interface OwnerFinding {
  readonly reference: OwnerReference;
  readonly state: OwnerState;
}

/** What is to be done about one object. */
export type Verdict =
  | { readonly kind: 'keep'; readonly lookAgain: boolean }
  | { readonly kind: 'delete'; readonly policy: 'Background' | 'Foreground' | 'Orphan' }
  /** Some owners are there: the references to the others go. */
  | { readonly kind: 'dropOwners'; readonly uids: readonly string[] }
  /** Two foreground deletions wait for each other: this object stops blocking its owners, then goes. */
  | { readonly kind: 'unblockAndDelete' }
  /** A foreground deletion waits for these. */
  | { readonly kind: 'awaitDependents'; readonly dependents: readonly GraphNode[] }
  | { readonly kind: 'releaseForeground' }
  | { readonly kind: 'orphanDependents'; readonly dependents: readonly GraphNode[] };

/** What to do about an object that is itself being deleted; `undefined` when its owners are to be asked. */
export function judgeDeletion(metadata: ObjectMeta, dependents: readonly GraphNode[]): Verdict | undefined {
  if (metadata.deletionTimestamp === undefined) return undefined;
  const phase = phaseOf(metadata);
  if (phase === 'orphan') return { kind: 'orphanDependents', dependents };
  if (phase === 'none') return { kind: 'keep', lookAgain: false };
  const blocking = dependents.filter(({ owners }) =>
    owners.some(({ uid, blockOwnerDeletion }) => uid === metadata.uid && blockOwnerDeletion === true),
  );
  return blocking.length === 0 ? { kind: 'releaseForeground' } : { kind: 'awaitDependents', dependents: blocking };
}

/** What to do about an object that is not being deleted. `isSeen` tells whether a watch knows this owner. */
export function judgeOwners(
  metadata: ObjectMeta,
  owners: readonly OwnerFinding[],
  facts: { readonly dependents: readonly GraphNode[]; isSeen(uid: string): boolean },
): Verdict {
  const inState = (...states: readonly OwnerState[]) => owners.filter(({ state }) => states.includes(state));
  if (owners.length === 0) return { kind: 'keep', lookAgain: false };
  if (inState('unknown').length > 0) return { kind: 'keep', lookAgain: true };
  if (inState('unreachable', 'elsewhere').length > 0) return { kind: 'keep', lookAgain: false };

  const superfluous = inState('absent', 'waiting').map(({ reference }) => reference.uid);
  const present = inState('present');
  if (present.length > 0) {
    if (superfluous.length > 0) return { kind: 'dropOwners', uids: superfluous };
    // The end of an owner that no watch has seen would go unnoticed.
    return { kind: 'keep', lookAgain: !present.every(({ reference }) => facts.isSeen(reference.uid)) };
  }
  if (inState('waiting').length > 0 && facts.dependents.length > 0) {
    const isCircle = facts.dependents.some(({ phase }) => phase === 'foreground');
    return isCircle ? { kind: 'unblockAndDelete' } : { kind: 'delete', policy: 'Foreground' };
  }
  return { kind: 'delete', policy: policyOf(metadata) };
}

/** A finalizer that was put there before says how its dependents are to be treated. */
function policyOf({ finalizers = [] }: ObjectMeta): 'Background' | 'Foreground' | 'Orphan' {
  if (finalizers.includes(orphanFinalizer)) return 'Orphan';
  return finalizers.includes(foregroundFinalizer) ? 'Foreground' : 'Background';
}
