import { deepFreeze, type KubernetesObject, type ObjectKey } from '@castellan/machinery';
import { shareEqualParts } from './share-equal-parts.js';
import { type KeysOf, StoreIndex } from './store-index.js';

/**
 * Objects of one type by namespace and name, by the uid of their controller, and by what else was asked for. What is put in
 * is frozen in depth and shared by all who read it.
 */
export class ObjectStore<T extends KubernetesObject> {
  /** The namespace of cluster-scoped objects is ''. */
  readonly #byNamespace = new Map<string, Map<string, T>>();
  readonly #byOwner = new StoreIndex<T>(controllerUids);
  readonly #indexes: StoreIndex<T>[] = [this.#byOwner];
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
    let inNamespace = this.#byNamespace.get(namespace);
    if (inNamespace === undefined) {
      inNamespace = new Map();
      this.#byNamespace.set(namespace, inNamespace);
    }
    const previous = inNamespace.get(name);
    const [owner] = controllerUids(object);
    const likeness = previous ?? firstOf(owner === undefined ? inNamespace.values() : this.#byOwner.get(owner));
    const held = likeness === undefined || Object.isFrozen(object) ? object : shareEqualParts(object, likeness);
    deepFreeze(held);
    inNamespace.set(name, held);
    if (previous === undefined) this.#size += 1;
    for (const index of this.#indexes) {
      if (previous !== undefined) index.remove(previous);
      index.add(held);
    }
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
    for (const index of this.#indexes) index.remove(object);
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
    return [...this.#byOwner.get(uid)];
  }

  /** An index of what is held and will be. */
  addIndex(keysOf: KeysOf<T>): StoreIndex<T> {
    const index = new StoreIndex(keysOf);
    for (const object of this.all()) index.add(object);
    this.#indexes.push(index);
    return index;
  }
}

function controllerUids({ metadata }: KubernetesObject): readonly string[] {
  const uid = metadata.ownerReferences?.find(({ controller }) => controller === true)?.uid;
  return uid === undefined ? [] : [uid];
}

function firstOf<T>(items: Iterable<T>): T | undefined {
  for (const item of items) return item;
  return undefined;
}
