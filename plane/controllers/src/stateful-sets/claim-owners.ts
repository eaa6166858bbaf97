import {
  deepEqual,
  type KubernetesObject,
  type OwnerReference,
  type PersistentVolumeClaim,
  type Pod,
  pods,
  type StatefulSet,
  statefulSets,
} from '@castellan/machinery';
import { ownerReferenceFor } from '@castellan/runtime';
import type { ClaimRetention } from './set-view.js';

/** The pod of a claim, and whether it is one too many. */
export interface ClaimUser {
  readonly pod: Pod;
  readonly isCondemned: boolean;
}

export type OwnersPlan =
  | { readonly kind: 'keep' }
  | { readonly kind: 'write'; readonly owners: readonly OwnerReference[] }
  /** Another controller has the claim: what was ours is taken off, and nothing is put on. */
  | { readonly kind: 'give up'; readonly owners: readonly OwnerReference[] };

/**
 * By whose end a claim is to go: it goes by the garbage collector, so a policy is nothing but owners. One that is to go with
 * its set has the set as its owner; one that is to go when the set is made smaller, the pod that is one too many. What names
 * an earlier set or pod of the same name is left as it is: that one's end decides. Source: KEP-1847.
 */
export function planOwners(
  claim: PersistentVolumeClaim,
  set: StatefulSet,
  { pod, isCondemned }: ClaimUser,
  retention: ClaimRetention,
): OwnersPlan {
  const owners = claim.metadata.ownerReferences ?? [];
  const isOfEarlier = (object: KubernetesObject, kind: string) =>
    owners.some((owner) => names(owner, object, kind) && owner.uid !== object.metadata.uid);
  if (isOfEarlier(set, statefulSets.kind) || isOfEarlier(pod, pods.kind)) return { kind: 'keep' };
  const others = owners.filter((owner) => !names(owner, set, statefulSets.kind) && !names(owner, pod, pods.kind));
  const isPolicy = retention.deleteWithSet || retention.deleteWhenScaled;
  const isAnothers = isPolicy && others.some(({ controller }) => controller === true);
  const wanted = isAnothers ? others : [...others, ...ownersFor(set, pod, retention, isCondemned)];
  if (deepEqual(wanted, owners)) return { kind: 'keep' };
  return { kind: isAnothers ? 'give up' : 'write', owners: wanted };
}

/** The owners of a claim that is made for a pod that is yet to be made. */
export function ownersAtFirst(set: StatefulSet, retention: ClaimRetention): readonly OwnerReference[] {
  return retention.deleteWithSet ? [ownerReferenceFor(set, statefulSets)] : [];
}

/** A claim that is about to go with an earlier pod of that name, which a new pod must not be given. */
export function isOfEarlierPod({ metadata }: PersistentVolumeClaim, podName: string): boolean {
  const pod = { metadata: { name: podName } };
  return metadata.ownerReferences?.some((owner) => names(owner, pod, pods.kind)) === true;
}

function ownersFor(
  set: StatefulSet,
  pod: Pod,
  { deleteWithSet, deleteWhenScaled }: ClaimRetention,
  isCondemned: boolean,
): readonly OwnerReference[] {
  if (deleteWhenScaled && isCondemned) return [ownerReferenceFor(pod, pods)];
  return deleteWithSet ? [ownerReferenceFor(set, statefulSets)] : [];
}

function names(owner: OwnerReference, { metadata }: KubernetesObject, kind: string): boolean {
  const apiVersion = kind === pods.kind ? 'v1' : 'apps/v1';
  return owner.apiVersion === apiVersion && owner.kind === kind && owner.name === metadata.name;
}
