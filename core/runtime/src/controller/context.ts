import type { KubernetesObject, ResourceType } from '@castellan/machinery';
import type { EventNote, ReconcileContext } from '../controller.js';
import type { Reader } from '../reader.js';

/** The status of a kind; nothing may be said of one that has none. */
export type StatusOf<T> = T extends { readonly status?: infer S } ? NonNullable<S> : never;

export type ConditionStatus = 'True' | 'False' | 'Unknown';

/**
 * What a reconcile of one object may use. It has all that the layer below has, so that a request that does not fit can be
 * made with `client`.
 */
export interface ObjectContext<T extends KubernetesObject = KubernetesObject>
  extends ReconcileContext,
    Pick<Reader, 'get' | 'list'> {
  /**
   * Makes an object be as `desired`, by server-side apply with this controller's field manager, and gives it as it is
   * then. Nothing is sent when nothing would change (an object of a type that is not in the cache is read first). Fields that were wanted before and are wanted no more are given up.
   * Where the cache has only a part of its type, what is given may be no more than that and what was desired.
   * It is owned by the reconciled object (whose namespace it is in unless it says otherwise) and goes with it.
   */
  ensure<D extends KubernetesObject>(type: ResourceType<D>, desired: D, options?: EnsureOwnedOptions): Promise<D>;
  /** The objects of a type in `owns` that the reconciled object is the controller of. */
  owned<D extends KubernetesObject>(type: ResourceType<D>): readonly D[];
  /**
   * Fields that the status is to have; those not named stay, `undefined` removes one. Written once when the reconcile
   * ends, only if something differs, together with conditions and `observedGeneration`.
   */
  status(fields: { readonly [Field in keyof StatusOf<T>]?: StatusOf<T>[Field] | undefined }): void;
  /**
   * A condition of the status. `reason` is one CamelCase word for programs, `message` a sentence for people. Its
   * `lastTransitionTime` changes when `status` does.
   */
  condition(type: string, status: ConditionStatus, reason: string, message: string): void;
  /** Writes an Event about the reconciled object; never waits and never fails. */
  event(note: EventNote): void;
}

export interface EnsureOwnedOptions {
  /** `false`: it stays when the reconciled object goes, and its changes do not trigger a reconcile. */
  readonly isOwned?: boolean;
}
