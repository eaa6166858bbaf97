import { deepEqual, type KubernetesObject } from '@castellan/machinery';
import type { Change } from '../informer/change.js';

/** Whether a change is a reason to reconcile. What was added or deleted has no previous state to compare with. */
export type ChangePredicate<T extends KubernetesObject = KubernetesObject> = (change: Change<T>) => boolean;

/** The spec changed: a server raises `metadata.generation` with it, and not with the status or the metadata. */
export function generationChanged(change: Change<KubernetesObject>): boolean {
  return differs(change, ({ metadata }) => metadata.generation);
}

export function labelsChanged(change: Change<KubernetesObject>): boolean {
  return differs(change, ({ metadata }) => metadata.labels ?? {});
}

export function annotationsChanged(change: Change<KubernetesObject>): boolean {
  return differs(change, ({ metadata }) => metadata.annotations ?? {});
}

/** False for what a resync gives again. */
export function resourceVersionChanged(change: Change<KubernetesObject>): boolean {
  return differs(change, ({ metadata }) => metadata.resourceVersion);
}

export function and<T extends KubernetesObject>(...predicates: readonly ChangePredicate<T>[]): ChangePredicate<T> {
  return (change) => predicates.every((predicate) => predicate(change));
}

export function or<T extends KubernetesObject>(...predicates: readonly ChangePredicate<T>[]): ChangePredicate<T> {
  return (change) => predicates.some((predicate) => predicate(change));
}

export function not<T extends KubernetesObject>(predicate: ChangePredicate<T>): ChangePredicate<T> {
  return (change) => !predicate(change);
}

/** True where there is nothing to compare with. */
function differs(change: Change<KubernetesObject>, part: (object: KubernetesObject) => unknown): boolean {
  return change.kind !== 'updated' || !deepEqual(part(change.object), part(change.previous));
}
