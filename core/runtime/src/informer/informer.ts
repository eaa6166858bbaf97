// Walk 5/10: what the watch stream of core/client brings is held here, and controllers are told (manager/controller-runner.ts).
import type { Client } from '@castellan/client';
import { type KubernetesObject, keyOf, type ObjectKey, type ResourceType } from '@castellan/machinery';
import type { World } from '@castellan/world';
import { deferred } from '../deferred.js';
import { compareRevisions } from '../revision.js';
import { ObjectStore } from './object-store.js';
import { type ReflectorSink, runReflector, type Selection } from './reflector.js';

/**
 * What became of one object. Objects are frozen; parts that an update left as they were are the same objects as before;
 * what was deleted is given as it was last known.
 */
export type Change<T extends KubernetesObject> =
  | { readonly kind: 'added'; readonly object: T }
  | { readonly kind: 'updated'; readonly object: T; readonly previous: T }
  | { readonly kind: 'deleted'; readonly object: T };

/** Called for every change, in order, while nothing else happens: note a key and return. */
export type ChangeHandler<T extends KubernetesObject> = (change: Change<T>) => void;

export interface InformerOptions<T extends KubernetesObject> extends Selection {
  readonly client: Client;
  readonly world: World;
  readonly type: ResourceType<T>;
  /** Asks for the collection as the beginning of the watch (KEP-3157); falls back where that is refused. */
  readonly usesWatchList?: boolean;
  /** Told of what went wrong and is tried again after `restMs`, and of what a handler threw. */
  readonly onProblem?: (error: unknown, restMs: number) => void;
}

/**
 * Holds in memory what a server holds of one type, kept current by one list and one watch, and tells handlers what changes.
 * Writes made by the same process may be noted, and are seen at once: what comes later by the watch and is older is dropped.
 */
export class Informer<T extends KubernetesObject> {
  readonly #options: InformerOptions<T>;
  readonly #store = new ObjectStore<T>();
  readonly #handlers = new Set<ChangeHandler<T>>();
  readonly #synced = deferred();
  /** Uids of objects that this process asked to delete and that the watch still shows as if it had not. */
  readonly #deleting = new Map<string, string>();
  #revision = '0';
  #isSynced = false;
  #isStopped = false;

  constructor(options: InformerOptions<T>) {
    this.#options = options;
  }

  get type(): ResourceType<T> {
    return this.#options.type;
  }

  /** Everything up to this revision of the server is in here. */
  get revision(): string {
    return this.#revision;
  }

  /** The first list is in here and all handlers were told of it. */
  get isSynced(): boolean {
    return this.#isSynced;
  }

  whenSynced(): Promise<void> {
    return this.#synced.promise;
  }

  get size(): number {
    return this.#store.size;
  }

  get(key: ObjectKey): T | undefined {
    return this.#store.get(key);
  }

  list(namespace?: string): Iterable<T> {
    return this.#store.all(namespace);
  }

  ownedBy(uid: string): readonly T[] {
    return this.#store.ownedBy(uid);
  }

  /** Tells `handler` of all that is in here as added, then of every change. The result removes it. */
  addHandler(handler: ChangeHandler<T>): () => void {
    if (this.#isStopped)
      throw new Error(`the informer of ${this.type.plural} is stopped: it will not call a new handler`);
    for (const object of [...this.#store.all()]) this.#call(handler, { kind: 'added', object });
    this.#handlers.add(handler);
    return () => this.#handlers.delete(handler);
  }

  /** Follows the server until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { client, world, type, usesWatchList = false, onProblem: _, ...selection } = this.#options;
    try {
      await runReflector({ client, world, type, selection, usesWatchList, sink: this.#sink() }, signal);
    } finally {
      this.#isStopped = true;
    }
  }

  /** A write of this process returned `object`. Nothing is done when the watch is past it already. */
  noteWrite(object: T): void {
    const { resourceVersion = '' } = object.metadata;
    const order = compareRevisions(resourceVersion, this.#revision);
    if (!this.#isSynced || order === undefined || order <= 0) return;
    this.#apply(object);
  }

  /** This process deleted the object with `uid`: until the watch says what became of it, reads show that it is going. */
  noteDelete(key: ObjectKey, uid: string): void {
    const object = this.#store.get(key);
    if (object === undefined || object.metadata.uid !== uid || object.metadata.deletionTimestamp !== undefined) return;
    const seconds = Math.floor(this.#options.world.clock.now() / 1_000);
    this.#deleting.set(uid, new Date(seconds * 1_000).toISOString().replace('.000Z', 'Z'));
    this.#put(this.#asGoing(object), object);
  }

  #sink(): ReflectorSink<T> {
    return {
      replace: (objects, revision) => this.#replace(objects, revision),
      change: (object) => this.#apply(object),
      remove: (object) => this.#remove(object),
      progress: (revision) => {
        this.#revision = revision;
      },
      problem: (error, restMs) => this.#options.onProblem?.(error, restMs),
    };
  }

  #replace(objects: readonly T[], revision: string): void {
    const listed = new Set<T>();
    for (const object of objects) {
      this.#apply(object);
      const held = this.#store.get(keyOf(object));
      if (held !== undefined) listed.add(held);
    }
    for (const held of [...this.#store.all()]) {
      // What was written after the list was made cannot be in it.
      const isNewer = (compareRevisions(held.metadata.resourceVersion ?? '', revision) ?? -1) > 0;
      if (!listed.has(held) && !isNewer) this.#drop(held);
    }
    // A list may be older than what was seen; the watch that follows it brings what lies between again.
    this.#revision = revision;
    if (this.#isSynced) return;
    this.#isSynced = true;
    this.#synced.resolve();
  }

  #apply(received: T): void {
    const previous = this.#store.get(keyOf(received));
    if (previous === undefined) {
      this.#put(this.#asGoing(received), undefined);
      return;
    }
    if (previous.metadata.uid !== received.metadata.uid) {
      if (isOlder(received, previous)) return;
      this.#drop(previous);
      this.#put(this.#asGoing(received), undefined);
      return;
    }
    if (previous.metadata.resourceVersion === received.metadata.resourceVersion || isOlder(received, previous)) return;
    this.#put(this.#asGoing(received), previous);
  }

  #remove(received: T): void {
    const held = this.#store.get(keyOf(received));
    if (held === undefined || (held.metadata.uid !== received.metadata.uid && isOlder(received, held))) return;
    this.#drop(held, received);
  }

  #put(received: T, previous: T | undefined): void {
    const object = this.#store.set(received);
    this.#tell(previous === undefined ? { kind: 'added', object } : { kind: 'updated', object, previous });
  }

  #drop(held: T, last: T = held): void {
    this.#store.delete(keyOf(held));
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

  #tell(change: Change<T>): void {
    for (const handler of this.#handlers) this.#call(handler, change);
  }

  #call(handler: ChangeHandler<T>, change: Change<T>): void {
    try {
      handler(change);
    } catch (error) {
      this.#options.onProblem?.(error, 0);
    }
  }
}

function isOlder(a: KubernetesObject, b: KubernetesObject): boolean {
  return (compareRevisions(a.metadata.resourceVersion ?? '', b.metadata.resourceVersion ?? '') ?? 0) < 0;
}
