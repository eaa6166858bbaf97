import type {
  Client,
  DeleteOptions,
  ListOptions,
  Patch,
  RawResponse,
  ReadOptions,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from '@castellan/client';
import {
  apiVersionOf,
  applyPatch,
  builtInTypes,
  isRecord,
  type KubernetesObject,
  keyOf,
  matchesLabels,
  type ObjectKey,
  type ObjectList,
  parseLabelSelector,
  type ResourceType,
  resourcePath,
  StatusError,
  trackUpdate,
} from '@castellan/machinery';

interface StoredEvent {
  readonly path: string;
  readonly revision: number;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  readonly object: KubernetesObject;
  /** What was there before. */
  readonly previous: KubernetesObject | undefined;
}

/** One open watch, which a test may cut off. */
interface OpenWatch {
  readonly options: WatchOptions;
  wake(): void;
  end(error?: Error): void;
}

/**
 * A simulated API server behind the Client interface: objects, revisions, a history that watches read, optimistic
 * concurrency. Tests make it refuse, hold back or cut off; nothing in it takes time by itself.
 */
export class FakeCluster implements Client {
  readonly #objects = new Map<string, KubernetesObject>();
  readonly #history: StoredEvent[] = [];
  readonly #watches = new Set<OpenWatch>();
  readonly calls: string[] = [];
  #revision = 100;
  #compacted = 0;
  #uids = 0;
  /** Watches deliver nothing while this is true. */
  isWatchHeld = false;
  /** Called before each request; what it throws is the reply. */
  intercept: (call: string, options: object) => void | Promise<void> = () => undefined;

  get revision(): number {
    return this.#revision;
  }

  get openWatches(): readonly OpenWatch[] {
    return [...this.#watches];
  }

  requests(prefix: string): readonly string[] {
    return this.calls.filter((call) => call.startsWith(prefix));
  }

  release(): void {
    this.isWatchHeld = false;
    for (const watch of this.#watches) watch.wake();
  }

  /** Ends all watches as a server does at their timeout, or with an error. */
  cutWatches(error?: Error): void {
    for (const watch of this.openWatches) watch.end(error);
  }

  /** Tells all watches how far the server is. */
  bookmark(): void {
    this.#revision += 1;
    const object: KubernetesObject = { metadata: { resourceVersion: String(this.#revision) } };
    this.#history.push({ path: '', revision: this.#revision, type: 'BOOKMARK', object, previous: undefined });
    for (const watch of this.#watches) watch.wake();
  }

  /** The server's storage is put back to an earlier state, without this object. */
  restore(revision: number, type: ResourceType, key: ObjectKey): void {
    this.#objects.delete(resourcePath(type, key));
    this.#history.length = 0;
    this.#revision = revision;
  }

  /** History up to now is gone: a watch from an earlier revision is refused. */
  compact(): void {
    this.#compacted = this.#revision;
  }

  async get<T extends KubernetesObject>(type: ResourceType<T>, key: ObjectKey, options: ReadOptions = {}): Promise<T> {
    const path = resourcePath(type, key);
    await this.#begin(`GET ${path}`, options);
    const object = this.#objects.get(path);
    if (object === undefined) throw StatusError.of('NotFound', `${type.plural} "${key.name}" not found`);
    return object as T;
  }

  async find<T extends KubernetesObject>(
    type: ResourceType<T>,
    key: ObjectKey,
    options: ReadOptions = {},
  ): Promise<T | undefined> {
    await this.#begin(`GET ${resourcePath(type, key)}`, options);
    return this.#objects.get(resourcePath(type, key)) as T | undefined;
  }

  async list<T extends KubernetesObject>(type: ResourceType<T>, options: ListOptions = {}): Promise<ObjectList<T>> {
    const { signal: _, ...query } = options;
    await this.#begin(`LIST ${type.plural} ${JSON.stringify(query)}`, options);
    const all = this.#all(type, options.namespace).filter((object) => isSelected(object, options.labelSelector));
    const from = options.continue === undefined ? 0 : Number(options.continue);
    const to = options.limit === undefined ? all.length : from + options.limit;
    return {
      apiVersion: apiVersionOf(type),
      kind: `${type.kind}List`,
      metadata: { resourceVersion: String(this.#revision), ...(to < all.length ? { continue: String(to) } : {}) },
      items: all.slice(from, to) as T[],
    };
  }

  async create<T extends KubernetesObject>(type: ResourceType<T>, object: T, options: WriteOptions = {}): Promise<T> {
    const path = resourcePath(type, keyOf(object));
    await this.#begin(`POST ${path}`, options);
    if (this.#objects.has(path)) throw StatusError.of('AlreadyExists', `${type.plural} "${path}" already exists`);
    this.#uids += 1;
    return this.#create(path, { apiVersion: apiVersionOf(type), kind: type.kind, ...object });
  }

  async update<T extends KubernetesObject>(type: ResourceType<T>, object: T, options: WriteOptions = {}): Promise<T> {
    const path = resourcePath(type, keyOf(object));
    await this.#begin(`PUT ${path}${options.subresource === undefined ? '' : `/${options.subresource}`}`, options);
    const present = this.#objects.get(path);
    if (present === undefined) throw StatusError.of('NotFound', `${path} not found`);
    const { resourceVersion } = object.metadata;
    if (resourceVersion !== undefined && resourceVersion !== present.metadata.resourceVersion) {
      throw StatusError.of('Conflict', `${path}: the object has been modified`);
    }
    return this.#replace(path, present, { ...object, metadata: { ...present.metadata, ...object.metadata } }, options);
  }

  async patch<T extends KubernetesObject>(
    type: ResourceType<T>,
    key: ObjectKey,
    patch: Patch,
    options: WriteOptions = {},
  ): Promise<T> {
    const path = resourcePath(type, key);
    await this.#begin(`PATCH ${path} ${JSON.stringify(patch.body)}`, options);
    const present = this.#objects.get(path) as T | undefined;
    if (patch.type === 'apply') return this.#apply(path, present, patch.body as T, patch.fieldManager);
    if (present === undefined) throw StatusError.of('NotFound', `${path} not found`);
    const { resourceVersion } = (patch.body as KubernetesObject).metadata ?? {};
    if (resourceVersion !== undefined && resourceVersion !== present.metadata.resourceVersion) {
      throw StatusError.of('Conflict', `${path}: the object has been modified`);
    }
    return this.#replace(path, present, merge(present, patch.body) as T, options);
  }

  async delete(type: ResourceType, key: ObjectKey, options: DeleteOptions = {}): Promise<boolean> {
    const path = resourcePath(type, key);
    await this.#begin(`DELETE ${path}`, options);
    const present = this.#objects.get(path);
    if (present === undefined) return false;
    if ((present.metadata.finalizers ?? []).length > 0) {
      this.#store(path, 'MODIFIED', {
        ...present,
        metadata: { ...present.metadata, deletionTimestamp: '2026-01-01T00:01:00Z' },
      });
    } else {
      this.#store(path, 'DELETED', present);
    }
    return true;
  }

  async *watch<T extends KubernetesObject>(
    type: ResourceType<T>,
    options: WatchOptions,
  ): AsyncGenerator<WatchEvent<T>, void, undefined> {
    const { signal, ...query } = options;
    await this.#begin(`WATCH ${type.plural} ${JSON.stringify(query)}`, options);
    let after = Number(options.resourceVersion ?? this.#revision);
    if (options.resourceVersion !== undefined && after < this.#compacted) {
      throw StatusError.of('Expired', 'too old resource version');
    }
    const state: { wake: () => void; ended?: { error: Error | undefined } } = { wake: () => undefined };
    const watch: OpenWatch = {
      options,
      wake: () => state.wake(),
      end(error) {
        state.ended = { error };
        state.wake();
      },
    };
    const onAbort = (): void => watch.end(signal?.reason);
    signal?.addEventListener('abort', onAbort, { once: true });
    if (signal?.aborted) onAbort();
    this.#watches.add(watch);
    try {
      if (options.sendInitialEvents === true) {
        for (const object of this.#all(type, options.namespace)) {
          if (isSelected(object, options.labelSelector)) yield { type: 'ADDED', object: object as T };
        }
        const annotations = { 'k8s.io/initial-events-end': 'true' };
        yield { type: 'BOOKMARK', object: { metadata: { resourceVersion: String(this.#revision), annotations } } };
        after = this.#revision;
      }
      for (;;) {
        if (state.ended !== undefined) {
          if (state.ended.error !== undefined) throw state.ended.error;
          return;
        }
        const next = this.isWatchHeld ? undefined : this.#history.find((event) => event.revision > after);
        if (next === undefined) {
          await new Promise<void>((resolve) => {
            state.wake = resolve;
          });
          continue;
        }
        after = next.revision;
        if (next.type === 'BOOKMARK') yield { type: next.type, object: next.object };
        if (!next.path.startsWith(`${resourcePath(type)}\n`)) continue;
        if (options.namespace !== undefined && next.object.metadata.namespace !== options.namespace) continue;
        const kind = eventTypeFor(next, options.labelSelector);
        if (kind !== undefined) yield { type: kind, object: next.object as T };
      }
    } finally {
      this.#watches.delete(watch);
      signal?.removeEventListener('abort', onAbort);
    }
  }

  request(): Promise<RawResponse> {
    return Promise.reject(new Error('the fake cluster has no raw requests'));
  }

  async close(): Promise<void> {}

  async #begin(call: string, options: { readonly signal?: AbortSignal }): Promise<void> {
    options.signal?.throwIfAborted();
    this.calls.push(call);
    await this.intercept(call, options);
    options.signal?.throwIfAborted();
  }

  #all(type: ResourceType, namespace: string | undefined): readonly KubernetesObject[] {
    const base = resourcePath(type, namespace === undefined ? {} : { namespace });
    const isOfType = (object: KubernetesObject): boolean => object.kind === type.kind;
    return [...this.#objects.entries()]
      .filter(([path, object]) => isOfType(object) && (namespace === undefined || path.startsWith(`${base}/`)))
      .map(([, object]) => object);
  }

  #create<T extends KubernetesObject>(path: string, object: T): T {
    this.#uids += 1;
    const metadata = { ...object.metadata, uid: `uid-${this.#uids}`, creationTimestamp: '2026-01-01T00:00:00Z' };
    return this.#store(path, 'ADDED', { ...object, metadata });
  }

  #apply<T extends KubernetesObject>(path: string, present: T | undefined, applied: T, manager: string): T {
    const now = '2026-01-01T00:00:00Z';
    const live = isRecord(present) ? present : undefined;
    const options = { manager, now, types: builtInTypes, force: true };
    const after = applyPatch(live, JSON.parse(JSON.stringify(applied)), options) as unknown as T;
    if (present === undefined) return this.#create(path, after);
    return after === present ? present : this.#store(path, 'MODIFIED', after);
  }

  /** Whoever changes a field takes it from those who applied it. A change of nothing is none. */
  #replace<T extends KubernetesObject>(path: string, before: KubernetesObject, after: T, options: WriteOptions): T {
    const { metadata } = after;
    const { resourceVersion } = before.metadata;
    const same = { ...after, metadata: { ...metadata, resourceVersion } };
    if (JSON.stringify(same) === JSON.stringify(before)) return before as T;
    if (metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).length === 0) {
      return this.#store(path, 'DELETED', after);
    }
    const manager = options.fieldManager ?? 'test';
    const now = '2026-01-01T00:00:00Z';
    const tracked =
      metadata.managedFields !== undefined && isRecord(before) && isRecord(after)
        ? trackUpdate(before, after, { manager, now, types: builtInTypes })
        : after;
    return this.#store(path, 'MODIFIED', tracked as T);
  }

  #store<T extends KubernetesObject>(path: string, type: StoredEvent['type'], object: T): T {
    this.#revision += 1;
    const stored = { ...object, metadata: { ...object.metadata, resourceVersion: String(this.#revision) } };
    const previous = this.#objects.get(path);
    if (type === 'DELETED') this.#objects.delete(path);
    else this.#objects.set(path, stored);
    this.#history.push({ path: `${collectionOf(path)}\n`, revision: this.#revision, type, object: stored, previous });
    for (const watch of this.#watches) watch.wake();
    return stored;
  }
}

function isSelected({ metadata }: KubernetesObject, labelSelector: string | undefined): boolean {
  return labelSelector === undefined || matchesLabels(parseLabelSelector(labelSelector), metadata.labels ?? {});
}

/** As the watch of a selection tells it: what begins to match is added, what ends to match is deleted. */
function eventTypeFor(
  event: StoredEvent,
  labelSelector: string | undefined,
): 'ADDED' | 'MODIFIED' | 'DELETED' | undefined {
  const { type, object, previous } = event;
  const did = previous !== undefined && isSelected(previous, labelSelector);
  const does = type !== 'DELETED' && isSelected(object, labelSelector);
  if (did) return does ? 'MODIFIED' : 'DELETED';
  return does ? 'ADDED' : undefined;
}

/** `/api/v1/namespaces/a/pods/b` → `/api/v1/pods`. */
function collectionOf(path: string): string {
  return path.replace(/\/namespaces\/[^/]+(?=\/[^/]+\/[^/]+$)/, '').replace(/\/[^/]+$/, '');
}

function merge(present: unknown, change: unknown): unknown {
  if (typeof change !== 'object' || change === null || Array.isArray(change)) return change;
  const result: Record<string, unknown> = typeof present === 'object' && present !== null ? { ...present } : {};
  for (const [name, value] of Object.entries(change)) {
    if (value === null) delete result[name];
    else result[name] = merge(result[name], value);
  }
  return result;
}
