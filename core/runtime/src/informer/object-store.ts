import type { KubernetesObject, ObjectKey } from '@castellan/machinery';
import { shareEqualParts } from './share-equal-parts.js';

/**
 * Objects of one type by namespace and name, and by the uid of their controller. What is put in is frozen in depth and
 * shared by all who read it. An index entry that holds nothing is dropped.
 */
export class ObjectStore<T extends KubernetesObject> {
  /** The namespace of cluster-scoped objects is ''. */
  readonly #byNamespace = new Map<string, Map<string, T>>();
  readonly #byOwner = new Map<string, Map<string, T>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(key: ObjectKey): T | undefined {
    return this.#byNamespace.get(key.namespace ?? '')?.get(key.name);
  }

  /** Gives what is held from now on: equal to `object`, and sharing its parts with objects that have the same. */
  set(object: T): T {
    const { namespace = '', name = '' } = object.metadata;
    const inNamespace = bucket(this.#byNamespace, namespace);
    const previous = inNamespace.get(name);
    const owner = controllerUid(object);
    const likeness = previous ?? firstOf(owner === undefined ? inNamespace : this.#byOwner.get(owner));
    const held = likeness === undefined || Object.isFrozen(object) ? object : shareEqualParts(object, likeness);
    deepFreeze(held);
    inNamespace.set(name, held);
    if (previous === undefined) this.#size += 1;
    else this.#disown(previous);
    if (owner !== undefined) bucket(this.#byOwner, owner).set(storeKey(held), held);
    return held;
  }

  delete(key: ObjectKey): T | undefined {
    const namespace = key.namespace ?? '';
    const inNamespace = this.#byNamespace.get(namespace);
    const object = inNamespace?.get(key.name);
    if (inNamespace === undefined || object === undefined) return undefined;
    inNamespace.delete(key.name);
    if (inNamespace.size === 0) this.#byNamespace.delete(namespace);
    this.#size -= 1;
    this.#disown(object);
    return object;
  }

  *all(namespace?: string): Generator<T, void, undefined> {
    if (namespace !== undefined) {
      yield* this.#byNamespace.get(namespace)?.values() ?? [];
      return;
    }
    for (const objects of this.#byNamespace.values()) yield* objects.values();
  }

  ownedBy(uid: string): readonly T[] {
    return [...(this.#byOwner.get(uid)?.values() ?? [])];
  }

  #disown(object: T): void {
    const owner = controllerUid(object);
    const owned = owner === undefined ? undefined : this.#byOwner.get(owner);
    if (owner === undefined || owned === undefined) return;
    owned.delete(storeKey(object));
    if (owned.size === 0) this.#byOwner.delete(owner);
  }
}

function storeKey({ metadata }: KubernetesObject): string {
  return `${metadata.namespace ?? ''}/${metadata.name ?? ''}`;
}

function controllerUid({ metadata }: KubernetesObject): string | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller === true)?.uid;
}

function bucket<T>(index: Map<string, Map<string, T>>, name: string): Map<string, T> {
  let found = index.get(name);
  if (found === undefined) {
    found = new Map();
    index.set(name, found);
  }
  return found;
}

function firstOf<T>(map: ReadonlyMap<string, T> | undefined): T | undefined {
  const first = map?.values().next();
  return first?.done === false ? first.value : undefined;
}

function deepFreeze(value: object): void {
  if (Object.isFrozen(value)) return;
  Object.freeze(value);
  for (const inner of Object.values(value)) {
    if (typeof inner === 'object' && inner !== null) deepFreeze(inner);
  }
}
