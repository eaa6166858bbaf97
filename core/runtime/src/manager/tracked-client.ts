import type {
  Client,
  DeleteOptions,
  ListOptions,
  Patch,
  RawRequest,
  RawResponse,
  ReadOptions,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from '@castellan/client';
import { type KubernetesObject, keyOf, type ObjectKey, type ObjectList, type ResourceType } from '@castellan/machinery';
import type { InformerSet } from '../informer/informer-set.js';

/** Told of each write of a cached type: what was known before, and what the server made of it. */
type OnWrite = (type: ResourceType, before: KubernetesObject | undefined, after: KubernetesObject) => void;

/**
 * The client that a reconcile is given. What it writes is seen by the next read of the manager's cache, before the watch
 * brings it; and its requests end with the reconcile unless they name a signal of their own.
 */
export class TrackedClient implements Client {
  readonly #client: Client;
  readonly #informers: InformerSet;
  readonly #signal: AbortSignal;
  readonly #onWrite: OnWrite;

  constructor(client: Client, informers: InformerSet, signal: AbortSignal, onWrite: OnWrite) {
    this.#client = client;
    this.#informers = informers;
    this.#signal = signal;
    this.#onWrite = onWrite;
  }

  get<T extends KubernetesObject>(type: ResourceType<T>, key: ObjectKey, options?: ReadOptions): Promise<T> {
    return this.#client.get(type, key, this.#bounded(options));
  }

  find<T extends KubernetesObject>(
    type: ResourceType<T>,
    key: ObjectKey,
    options?: ReadOptions,
  ): Promise<T | undefined> {
    return this.#client.find(type, key, this.#bounded(options));
  }

  list<T extends KubernetesObject>(type: ResourceType<T>, options?: ListOptions): Promise<ObjectList<T>> {
    return this.#client.list(type, this.#bounded(options));
  }

  async create<T extends KubernetesObject>(type: ResourceType<T>, object: T, options?: WriteOptions): Promise<T> {
    const before = this.#held(type, keyOf(object));
    return this.#note(type, before, await this.#client.create(type, object, this.#bounded(options)), options);
  }

  async update<T extends KubernetesObject>(type: ResourceType<T>, object: T, options?: WriteOptions): Promise<T> {
    const before = this.#held(type, keyOf(object));
    return this.#note(type, before, await this.#client.update(type, object, this.#bounded(options)), options);
  }

  async patch<T extends KubernetesObject>(
    type: ResourceType<T>,
    key: ObjectKey,
    patch: Patch,
    options?: WriteOptions,
  ): Promise<T> {
    const before = this.#held(type, key);
    return this.#note(type, before, await this.#client.patch(type, key, patch, this.#bounded(options)), options);
  }

  async delete(type: ResourceType, key: ObjectKey, options?: DeleteOptions): Promise<boolean> {
    // Which object is meant is settled before the request: one that is recreated meanwhile is not the one deleted.
    const uid = options?.preconditions?.uid ?? this.#informers.uidOf(type, key);
    const wasThere = await this.#client.delete(type, key, this.#bounded(options));
    if (wasThere && uid !== undefined) this.#informers.noteDelete(type, key, uid);
    return wasThere;
  }

  watch<T extends KubernetesObject>(type: ResourceType<T>, options: WatchOptions): AsyncIterable<WatchEvent<T>> {
    return this.#client.watch(type, this.#bounded(options));
  }

  request(request: RawRequest): Promise<RawResponse> {
    return this.#client.request(this.#bounded(request));
  }

  /** The manager's client is shared: a reconcile cannot close it. */
  async close(): Promise<void> {}

  #bounded<O extends { readonly signal?: AbortSignal }>(options?: O): O & { readonly signal: AbortSignal };
  #bounded(options: { readonly signal?: AbortSignal } = {}): { readonly signal: AbortSignal } {
    return { ...options, signal: options.signal ?? this.#signal };
  }

  /** Looked up before a request: the watch may bring what it changes before its reply is there. */
  #held<T extends KubernetesObject>(type: ResourceType<T>, key: ObjectKey): T | undefined {
    return this.#informers.find(type)?.get(key);
  }

  #note<T extends KubernetesObject>(
    type: ResourceType<T>,
    before: T | undefined,
    written: T,
    options: WriteOptions = {},
  ): T {
    // Some subresources answer with another kind (Scale, Status), and a dry run changes nothing.
    const isObject = written.kind === type.kind && keyOf(written).name !== '';
    if (!isObject || options.dryRun === true) return written;
    this.#informers.noteWrite(type, written);
    if (this.#informers.find(type) !== undefined) this.#onWrite(type, before, written);
    return written;
  }
}
