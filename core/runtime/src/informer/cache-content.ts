import { formatKey, type KubernetesObject, keyOf, type ObjectKey } from '@castellan/machinery';
import { compareRevisions } from '../revision.js';
import type { Change } from './change.js';
import { ObjectStore } from './object-store.js';

/**
 * What a cache holds: what lists and watches bring, and what this process wrote and they have not brought yet. Of two
 * versions of an object the newer one counts, whichever way it came.
 */
export class CacheContent<T extends KubernetesObject> {
  readonly store = new ObjectStore<T>();
  readonly #tell: (change: Change<T>) => void;
  /** Uids of objects that this process asked to delete and that the watch still shows as if it had not: since when. */
  readonly #deleting = new Map<string, string>();
  /** Own writes that the watch has not brought yet. */
  readonly #unconfirmed = new Map<string, { readonly key: ObjectKey; readonly revision: string }>();

  constructor(tell: (change: Change<T>) => void) {
    this.#tell = tell;
  }

  /**
   * All that the server holds as of `revision`, in one namespace or everywhere. With `isReset` it counts whatever its
   * revisions are: the server's history began anew.
   */
  replace(namespace: string | undefined, objects: readonly T[], revision: string, isReset: boolean): void {
    const listed = new Set<T>();
    for (const object of objects) {
      this.#apply(object, isReset);
      const held = this.store.get(keyOf(object));
      if (held !== undefined) listed.add(held);
    }
    for (const held of [...this.store.all(namespace)]) {
      // What was written after the list was made cannot be in it.
      const isNewer = !isReset && (compareRevisions(held.metadata.resourceVersion ?? '', revision) ?? -1) > 0;
      if (!listed.has(held) && !isNewer) this.#drop(held);
    }
    // Those that were not in the list are dropped by now, or newer than it.
    for (const [text] of this.#unconfirmedUpTo(namespace, revision)) this.#unconfirmed.delete(text);
  }

  /** The watch brought this version. */
  change(received: T): void {
    this.#apply(received, false);
    if (this.#unconfirmed.size === 0) return;
    const text = formatKey(keyOf(received));
    const write = this.#unconfirmed.get(text);
    const order = compareRevisions(write?.revision ?? '', received.metadata.resourceVersion ?? '');
    if (order !== undefined && order <= 0) this.#unconfirmed.delete(text);
  }

  /** The watch says that the object is gone, or does not belong here any more. */
  remove(received: T): void {
    const held = this.store.get(keyOf(received));
    if (held === undefined || (held.metadata.uid !== received.metadata.uid && isOlder(received, held))) return;
    this.#drop(held, received);
  }

  /** The watch has brought all up to `revision`: an own write before that, which it did not bring, does not belong here. */
  passed(namespace: string | undefined, revision: string): void {
    if (this.#unconfirmed.size === 0) return;
    for (const [text, write] of this.#unconfirmedUpTo(namespace, revision)) {
      this.#unconfirmed.delete(text);
      const held = this.store.get(write.key);
      if (held?.metadata.resourceVersion === write.revision) this.#drop(held);
    }
  }

  /** This process wrote this version, and the watch has not come so far. */
  noteWrite(written: T): void {
    this.#apply(written, false);
    const key = keyOf(written);
    const { resourceVersion: revision } = written.metadata;
    if (revision === undefined || this.store.get(key)?.metadata.resourceVersion !== revision) return;
    this.#unconfirmed.set(formatKey(key), { key, revision });
  }

  /** This process deleted the object: until the watch says what became of it, it shows as going since `nowMs`. */
  noteDelete(key: ObjectKey, uid: string, nowMs: number): void {
    const object = this.store.get(key);
    if (object === undefined || object.metadata.uid !== uid || object.metadata.deletionTimestamp !== undefined) return;
    this.#deleting.set(uid, new Date(nowMs).toISOString().replace(/\.\d+Z$/, 'Z'));
    this.#put(this.#asGoing(object), object);
  }

  /** Nothing is there any more, in one namespace or anywhere. */
  clear(namespace: string | undefined): void {
    for (const held of [...this.store.all(namespace)]) this.#drop(held);
  }

  #unconfirmedUpTo(namespace: string | undefined, revision: string) {
    return [...this.#unconfirmed].filter(
      ([, write]) =>
        (compareRevisions(write.revision, revision) ?? 0) <= 0 &&
        (namespace === undefined || write.key.namespace === namespace),
    );
  }

  #apply(received: T, isReset: boolean): void {
    const previous = this.store.get(keyOf(received));
    if (previous === undefined) {
      this.#put(this.#asGoing(received), undefined);
      return;
    }
    if (previous.metadata.resourceVersion === received.metadata.resourceVersion) return;
    if (!isReset && isOlder(received, previous)) return;
    if (previous.metadata.uid === received.metadata.uid) {
      this.#put(this.#asGoing(received), previous);
      return;
    }
    this.#drop(previous);
    this.#put(this.#asGoing(received), undefined);
  }

  #put(received: T, previous: T | undefined): void {
    const object = this.store.set(received);
    this.#tell(previous === undefined ? { kind: 'added', object } : { kind: 'updated', object, previous });
  }

  #drop(held: T, last: T = held): void {
    const key = keyOf(held);
    this.store.delete(key);
    this.#unconfirmed.delete(formatKey(key));
    this.#deleting.delete(held.metadata.uid ?? '');
    this.#tell({ kind: 'deleted', object: last.metadata.uid === held.metadata.uid ? last : held });
  }

  /** The deletion that was asked for shows in `object`, unless the server shows it already. */
  #asGoing(object: T): T {
    const uid = object.metadata.uid ?? '';
    const deletionTimestamp = this.#deleting.get(uid);
    if (deletionTimestamp === undefined) return object;
    if (object.metadata.deletionTimestamp !== undefined) {
      this.#deleting.delete(uid);
      return object;
    }
    return { ...object, metadata: { ...object.metadata, deletionTimestamp } };
  }
}

function isOlder(a: KubernetesObject, b: KubernetesObject): boolean {
  return (compareRevisions(a.metadata.resourceVersion ?? '', b.metadata.resourceVersion ?? '') ?? 0) < 0;
}
