import { type KubernetesObject, type LabelSelector, matchesLabels, type OwnerReference } from '@castellan/machinery';

export interface Claimant {
  readonly object: KubernetesObject;
  readonly selector: LabelSelector;
  /** What else an object must have to be its; anything does when absent. */
  readonly accepts?: (object: KubernetesObject) => boolean;
}

export interface Claims<T> {
  /** Those it controls, and that it selects. */
  readonly own: readonly T[];
  /** Those that nobody controls, and that it selects. */
  readonly adopt: readonly T[];
  /** Those it controls and selects no longer. */
  readonly release: readonly T[];
}

/** Which of `objects` are a controller's, or are to become so, or no longer. One that is being deleted neither adopts nor releases. */
export function planClaims<T extends KubernetesObject>(claimant: Claimant, objects: readonly T[]): Claims<T> {
  const { object: owner, selector, accepts = () => true } = claimant;
  const isLeaving = isBeingDeleted(owner);
  const isSelected = (object: T) => matchesLabels(selector, object.metadata.labels) && accepts(object);
  const controlled = objects.filter((object) => controllerOf(object)?.uid === owner.metadata.uid);
  const orphans = objects.filter((object) => controllerOf(object) === undefined && !isBeingDeleted(object));
  return {
    own: controlled.filter(isSelected),
    adopt: isLeaving ? [] : orphans.filter(isSelected),
    release: isLeaving ? [] : controlled.filter((object) => !isSelected(object)),
  };
}

export function controllerOf({ metadata }: KubernetesObject): OwnerReference | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller === true);
}

export function isBeingDeleted({ metadata }: KubernetesObject): boolean {
  return metadata.deletionTimestamp !== undefined;
}
