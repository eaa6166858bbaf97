// Walk 5/10: what the watch stream of core/client brings is held here, and controllers are told (manager/controller-runner.ts).
import type { Client } from '@castellan/client';
import { type KubernetesObject, type ObjectKey, type ResourceType, resourceName } from '@castellan/machinery';
import type { World } from '@castellan/world';
import type { CacheIndex } from '../cache/cache-index.js';
import { cachePartOf } from '../cache/cached-type.js';
import { type Trim, trimOf } from '../cache/trim.js';
import { deferred } from '../deferred.js';
import { compareRevisions } from '../revision.js';
import { CacheContent } from './cache-content.js';
import type { Change, ChangeHandler } from './change.js';
import { Feed, type FeedState } from './feed.js';
import { type HandlerOptions, type HandlerRegistration, RegisteredHandler } from './handler-registration.js';
import type { StoreIndex } from './store-index.js';

export interface InformerOptions<T extends KubernetesObject> {
  readonly client: Client;
  readonly world: World;
  /** A type made by `pick`, `metadataOf` or `cached` is followed, and held, in that part only. */
  readonly type: ResourceType<T>;
  /** Follows these namespaces only, unless the type names its own. */
  readonly namespaces?: readonly string[];
  /** Asks for the collection as the beginning of the watch (KEP-3157), and lists where that is refused; true by default. */
  readonly usesWatchList?: boolean;
  /** Told of what went wrong and is tried again after `restMs`, and of what a handler threw. */
  readonly onProblem?: (error: unknown, restMs: number) => void;
  /** Told of each new `state`. */
  readonly onState?: (state: InformerState) => void;
}

/**
 * *waiting for the kind*: the server does not know it, because its CustomResourceDefinition is not there or is gone. It is
 * looked for every few seconds. Of several namespaces the one that is least far counts.
 */
export type InformerState = 'not started' | FeedState | 'paused' | 'stopped';

/**
 * Holds in memory what a server holds of one type, kept current by one list and one watch, and tells handlers what changes.
 * Writes made by the same process may be noted, and are seen at once: what comes later by the watch and is older is dropped.
 */
export class Informer<T extends KubernetesObject> {
  readonly #options: InformerOptions<T>;
  readonly #trim: Trim<T> | undefined;
  readonly #content = new CacheContent<T>((change) => this.#tell(change));
  readonly #indexes = new Map<CacheIndex<T>, StoreIndex<T>>();
  readonly #handlers = new Set<RegisteredHandler<T>>();
  readonly #synced = deferred();
  readonly #known = deferred();
  /** One for each namespace, or one for all. */
  readonly #feeds: readonly Feed<T>[];
  #state: InformerState = 'not started';
  #session: AbortController | undefined;
  #resume = deferred();
  #isPaused = false;

  constructor(options: InformerOptions<T>) {
    this.#options = options;
    const { type, client, world, usesWatchList = true } = options;
    this.#trim = trimOf(type);
    const part = cachePartOf(type);
    const namespaces = part.namespaces ?? options.namespaces;
    const selection = {
      ...(part.labelSelector === undefined ? {} : { labelSelector: part.labelSelector }),
      ...(part.fieldSelector === undefined ? {} : { fieldSelector: part.fieldSelector }),
      ...(part.metadataOnly === true ? { metadataOnly: true } : {}),
    };
    const feedOf = (namespace?: string): Feed<T> =>
      new Feed({
        client,
        world,
        type,
        usesWatchList,
        selection: { ...selection, ...(namespace === undefined ? {} : { namespace }) },
        content: this.#content,
        ...(this.#trim === undefined ? {} : { trim: this.#trim }),
        onProblem: (error, restMs) => this.#problem(error, restMs),
        onState: () => this.#stateChanged(),
      });
    this.#feeds =
      namespaces === undefined || !type.isNamespaced
        ? [feedOf()]
        : [...new Set(namespaces)].map((name) => feedOf(name));
  }

  get type(): ResourceType<T> {
    return this.#options.type;
  }

  /** The namespaces that are followed; `undefined` for all. */
  get namespaces(): readonly string[] | undefined {
    const names = this.#feeds.flatMap(({ namespace }) => namespace ?? []);
    return names.length === 0 ? undefined : names;
  }

  /** Everything up to this revision of the server is in here. It does not go back, unless the server's own history did. */
  get revision(): string {
    return this.#feeds.map(({ revision }) => revision).reduce((a, b) => ((compareRevisions(a, b) ?? 0) <= 0 ? a : b));
  }

  get state(): InformerState {
    return this.#state;
  }

  /** The first list is in here and was told to all handlers. */
  get isSynced(): boolean {
    return this.#feeds.every(({ isSynced }) => isSynced);
  }

  whenSynced(): Promise<void> {
    return this.#synced.promise;
  }

  /** Synced, or found to wait for a kind that the server does not serve, which may take for ever. */
  whenKnown(): Promise<void> {
    return this.#known.promise;
  }

  get size(): number {
    return this.#content.store.size;
  }

  get(key: ObjectKey): T | undefined {
    return this.#content.store.get(key);
  }

  list(namespace?: string): Iterable<T> {
    return this.#content.store.all(namespace);
  }

  ownedBy(uid: string): readonly T[] {
    return this.#content.store.ownedBy(uid);
  }

  /** Once added, an index follows all changes. To add it twice is harmless. */
  addIndex(index: CacheIndex<T>): void {
    if (this.#indexes.has(index)) return;
    if ([...this.#indexes.keys()].some(({ name }) => name === index.name)) {
      throw new Error(
        `two indexes of ${resourceName(this.type)} are named ${index.name}: share one, or give them names of their own`,
      );
    }
    const keysOf = (object: T): readonly string[] => {
      try {
        return index.keys(object);
      } catch (error) {
        const { namespace = '', name = '' } = object.metadata;
        const where = `${namespace}/${name} is left out of the index ${index.name} of ${resourceName(this.type)}`;
        this.#problem(new Error(`${where}: its keys could not be worked out`, { cause: error }), 0);
        return [];
      }
    };
    this.#indexes.set(index, this.#content.store.addIndex(keysOf));
  }

  /** The objects under `key`; `undefined` when there is no such index. */
  byIndex(index: CacheIndex<T>, key: string): readonly T[] | undefined {
    const known = this.#indexes.get(index);
    return known === undefined ? undefined : [...known.get(key)];
  }

  /** Tells `handler` of all that is in here as added, then of every change. */
  addHandler(handler: ChangeHandler<T>, options: HandlerOptions = {}): HandlerRegistration {
    if (this.#state === 'stopped')
      throw new Error(`the informer of ${this.type.plural} is stopped: it will not call a new handler`);
    const registered = new RegisteredHandler(
      handler,
      (error) => this.#problem(error, 0),
      () => this.#handlers.delete(registered),
    );
    for (const object of [...this.#content.store.all()]) registered.tell({ kind: 'added', object });
    if (this.isSynced) registered.listGiven();
    this.#handlers.add(registered);
    const { clock } = this.#options.world;
    if (options.resyncMs !== undefined) {
      registered.resyncEvery(options.resyncMs, clock, () => this.#content.store.all());
    }
    return registered;
  }

  /** Follows the server until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const stop = (): void => {
      this.#session?.abort(signal.reason);
      this.#resume.resolve();
    };
    signal.addEventListener('abort', stop, { once: true });
    try {
      while (!signal.aborted) {
        if (this.#isPaused) {
          await this.#resume.promise;
          continue;
        }
        const session = new AbortController();
        this.#session = session;
        await Promise.all(this.#feeds.map((feed) => feed.run(session.signal)));
        this.#session = undefined;
      }
    } finally {
      signal.removeEventListener('abort', stop);
      this.#setState('stopped');
      const reason = new Error(`the informer of ${this.type.plural} is stopped`);
      for (const handler of this.#handlers) handler.stop(reason);
    }
  }

  /** Closes all streams. What is held stays, and grows old, until `resume`. */
  pause(): void {
    if (this.#isPaused) return;
    this.#isPaused = true;
    this.#resume = deferred();
    this.#session?.abort(new Error('paused'));
    this.#stateChanged();
  }

  /** Reads everything anew, not older than what is held, and goes on; handlers are told what differs. */
  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#resume.resolve();
  }

  /** A write of this process returned `object`, whole. Nothing is done when the watch is past it already. */
  noteWrite(object: T): void {
    const feed = this.#feedOf(object.metadata.namespace);
    const order = compareRevisions(object.metadata.resourceVersion ?? '', feed?.revision ?? '');
    if (feed === undefined || !feed.isSynced || order === undefined || order <= 0) return;
    // What is cut off shares its parts with the object, which is the caller's, and may be another cache's as well.
    this.#content.noteWrite(this.#trim === undefined ? object : this.#trim(structuredClone(object)));
  }

  /** This process deleted the object with `uid`: until the watch says what became of it, reads show that it is going. */
  noteDelete(key: ObjectKey, uid: string): void {
    this.#content.noteDelete(key, uid, this.#options.world.clock.now());
  }

  #feedOf(namespace: string | undefined): Feed<T> | undefined {
    return this.#feeds.find((feed) => feed.namespace === undefined || feed.namespace === namespace);
  }

  #stateChanged(): void {
    if (this.#state === 'stopped') return;
    const states = this.#feeds.map(({ state }) => state);
    if (this.#isPaused) this.#setState('paused');
    else if (states.includes('waiting for the kind')) this.#setState('waiting for the kind');
    else this.#setState(states.includes('listing') ? 'listing' : 'watching');
    if (!this.isSynced) return;
    for (const handler of this.#handlers) handler.listGiven();
    this.#synced.resolve();
    this.#known.resolve();
  }

  #setState(state: InformerState): void {
    if (this.#state === state) return;
    this.#state = state;
    if (state === 'waiting for the kind') this.#known.resolve();
    this.#options.onState?.(state);
  }

  #tell(change: Change<T>): void {
    for (const handler of this.#handlers) handler.tell(change);
  }

  #problem(error: unknown, restMs: number): void {
    this.#options.onProblem?.(error, restMs);
  }
}
