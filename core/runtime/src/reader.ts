import type { KubernetesObject, ObjectKey, ResourceType } from '@castellan/machinery';
import type { CacheIndex } from './cache/cache-index.js';

export interface ListSelection {
  readonly namespace?: string;
  /** Labels that must have these values. */
  readonly labels?: Readonly<Record<string, string>>;
}

/**
 * Reads from memory what the informers hold. Objects are frozen and shared: copy to change. A type that `pick`, `metadataOf`
 * or `cached` made has a cache of its own, and is read with that type. Reading what is not cached throws.
 */
export interface Reader {
  get<T extends KubernetesObject>(type: ResourceType<T>, key: ObjectKey): T | undefined;
  list<T extends KubernetesObject>(type: ResourceType<T>, options?: ListSelection): readonly T[];
  /** Objects whose controller owner reference has this uid. */
  ownedBy<T extends KubernetesObject>(type: ResourceType<T>, ownerUid: string): readonly T[];
  /** Objects for which the index gives this key. */
  byIndex<T extends KubernetesObject>(index: CacheIndex<T>, key: string): readonly T[];
}
