import type { KubernetesObject } from '@castellan/machinery';

/**
 * What became of one object. Objects are frozen; parts that an update left as they were are the same objects as before;
 * what was deleted is given as it was last known.
 */
export type Change<T extends KubernetesObject> =
  | { readonly kind: 'added'; readonly object: T }
  | { readonly kind: 'updated'; readonly object: T; readonly previous: T }
  | { readonly kind: 'deleted'; readonly object: T };

/**
 * Called for every change, in order: note a key and return. One that gives a promise is not called again until that is
 * settled; what happens to one object meanwhile becomes one change. What it throws is reported and harms nobody else.
 */
export type ChangeHandler<T extends KubernetesObject> = (change: Change<T>) => unknown;
