import type {
  Client,
  DeleteOptions,
  ListOptions,
  Patch,
  RawResponse,
  WatchEvent,
  WatchOptions,
} from '@castellan/client';
import {
  apiVersionOf,
  formatKey,
  type KubernetesObject,
  keyOf,
  type ObjectKey,
  type ObjectList,
  type ResourceType,
  resourceName,
  StatusError,
} from '@castellan/machinery';

interface Change {
  readonly revision: number;
  readonly collection: string;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: KubernetesObject;
}

/**
 * A simulated API server behind the Client interface: objects, revisions, watches, and the graceful deletion of pods.
 * It lets this package be tested without the packages that it must not know.
 */
export class SimulatedCluster implements Client {
  readonly #objects = new Map<string, KubernetesObject>();
  readonly #history: Change[] = [];
  readonly #watching = new Set<() => void>();
  #revision = 1;

  /** As an API server that has these already, uids and all. */
  constructor(objects: readonly { readonly type: ResourceType; readonly object: KubernetesObject }[] = []) {
    for (const { type, object } of objects) this.#store(type, 'ADDED', object);
  }

  async find<T extends KubernetesObject>(type: ResourceType<T>, key: ObjectKey): Promise<T | undefined> {
    return this.#objects.get(pathOf(type, key)) as T | undefined;
  }

  async get<T extends KubernetesObject>(type: ResourceType<T>, key: ObjectKey): Promise<T> {
    const object = await this.find(type, key);
    if (object === undefined) throw StatusError.of('NotFound', `${resourceName(type)} "${key.name}" not found`);
    return object;
  }

  async list<T extends KubernetesObject>(type: ResourceType<T>, options: ListOptions = {}): Promise<ObjectList<T>> {
    const items = [...this.#objects].filter(
      ([path, { metadata }]) =>
        path.startsWith(`${resourceName(type)} `) &&
        (options.namespace === undefined || metadata.namespace === options.namespace),
    );
    return {
      apiVersion: apiVersionOf(type),
      kind: `${type.kind}List`,
      metadata: { resourceVersion: String(this.#revision) },
      items: items.map(([, object]) => object as T),
    };
  }

  async create<T extends KubernetesObject>(type: ResourceType<T>, object: T): Promise<T> {
    if (this.#objects.has(pathOf(type, keyOf(object)))) throw StatusError.of('AlreadyExists', 'it is there already');
    const metadata = { uid: crypto.randomUUID(), ...object.metadata };
    return this.#store(type, 'ADDED', { apiVersion: apiVersionOf(type), kind: type.kind, ...object, metadata });
  }

  async update<T extends KubernetesObject>(type: ResourceType<T>, object: T): Promise<T> {
    const present = await this.get(type, keyOf(object));
    return this.#store(type, 'MODIFIED', { ...object, metadata: { ...present.metadata, ...object.metadata } });
  }

  async patch<T extends KubernetesObject>(type: ResourceType<T>, key: ObjectKey, patch: Patch): Promise<T> {
    const present = await this.get(type, key);
    const merged = merge(present, patch.body) as T;
    if (merged.metadata.uid !== present.metadata.uid) throw StatusError.of('Conflict', 'the uid is another');
    return this.#store(type, 'MODIFIED', merged);
  }

  /** A pod with a node stays, marked, until its node agent deletes it with a grace period of 0. */
  async delete(type: ResourceType, key: ObjectKey, options: DeleteOptions = {}): Promise<boolean> {
    const present = await this.find(type, key);
    if (present === undefined) return false;
    const { uid } = options.preconditions ?? {};
    if (uid !== undefined && uid !== present.metadata.uid) throw StatusError.of('Conflict', 'the uid is another');
    const spec = (present as { spec?: { terminationGracePeriodSeconds?: number } }).spec;
    const grace = options.gracePeriodSeconds ?? spec?.terminationGracePeriodSeconds ?? 30;
    if (type.kind !== 'Pod' || grace === 0) {
      this.#store(type, 'DELETED', present);
    } else {
      const deletionTimestamp = new Date(Date.now() + grace * 1000).toISOString();
      const metadata = { ...present.metadata, deletionTimestamp, deletionGracePeriodSeconds: grace };
      this.#store(type, 'MODIFIED', { ...present, metadata });
    }
    return true;
  }

  async *watch<T extends KubernetesObject>(
    type: ResourceType<T>,
    options: WatchOptions,
  ): AsyncGenerator<WatchEvent<T>, void, undefined> {
    let after = Number(options.resourceVersion ?? this.#revision);
    if (options.sendInitialEvents === true) {
      const { items } = await this.list(type, options);
      for (const object of items) yield { type: 'ADDED', object };
      const annotations = { 'k8s.io/initial-events-end': 'true' };
      yield { type: 'BOOKMARK', object: { metadata: { resourceVersion: String(this.#revision), annotations } } };
      after = this.#revision;
    }
    while (options.signal?.aborted !== true) {
      const next = this.#history.find(({ revision }) => revision > after);
      if (next === undefined) {
        await this.#change(options.signal);
        continue;
      }
      after = next.revision;
      if (next.collection === resourceName(type)) yield { type: next.type, object: next.object as T };
    }
  }

  request(): Promise<RawResponse> {
    return Promise.reject(new Error('the simulated cluster has no raw requests'));
  }

  async close(): Promise<void> {}

  #change(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        this.#watching.delete(wake);
        signal?.removeEventListener('abort', wake);
        resolve();
      };
      this.#watching.add(wake);
      signal?.addEventListener('abort', wake);
    });
  }

  #store<T extends KubernetesObject>(type: ResourceType, change: Change['type'], object: T): T {
    this.#revision += 1;
    const versioned = { ...object, metadata: { ...object.metadata, resourceVersion: String(this.#revision) } };
    // As over the network: who wrote it, who reads it and who reads it next share nothing.
    const stored: T = JSON.parse(JSON.stringify(versioned));
    const path = pathOf(type, keyOf(object));
    if (change === 'DELETED') this.#objects.delete(path);
    else this.#objects.set(path, stored);
    this.#history.push({ revision: this.#revision, collection: resourceName(type), type: change, object: stored });
    for (const wake of [...this.#watching]) wake();
    return stored;
  }
}

function pathOf(type: ResourceType, key: ObjectKey): string {
  return `${resourceName(type)} ${formatKey(key)}`;
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
