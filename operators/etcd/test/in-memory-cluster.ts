import type { Client, Patch, WriteOptions } from '@castellan/client';
import {
  formatKey,
  type KubernetesObject,
  type ObjectKey,
  type ResourceType,
  resourceName,
  StatusError,
} from '@castellan/machinery';
import type { Reader } from '@castellan/runtime';

type Stored = KubernetesObject & Readonly<Record<string, unknown>>;

/** The part of an API server that the operator uses, in memory: enough to run its controller without a plane. */
export class InMemoryCluster {
  readonly #objects = new Map<string, Stored>();
  #revision = 0;
  /** Called after each write, with what is now there. */
  onChange: (type: ResourceType, key: ObjectKey) => void = () => {};

  readonly reader: { -readonly [Method in keyof Reader]: Reader[Method] } = {
    get: <T extends KubernetesObject>(type: ResourceType<T>, key: ObjectKey) => this.read(type, key),
    list: <T extends KubernetesObject>(type: ResourceType<T>) => this.all(type),
    ownedBy: <T extends KubernetesObject>(type: ResourceType<T>, ownerUid: string) =>
      this.all(type).filter(({ metadata }) => metadata.ownerReferences?.some(({ uid }) => uid === ownerUid)),
    byIndex: (index, key) => this.all(index.type).filter((object) => index.keys(object).includes(key)),
  };

  readonly client: Client = {
    get: async (type, key) => this.require(type, key),
    find: async (type, key) => this.read(type, key),
    list: async (type) => ({ apiVersion: 'v1', kind: `${type.kind}List`, metadata: {}, items: this.all(type) }),
    create: async (type, object) => this.create(type, object),
    update: async (type, object, options) => this.update(type, object, options),
    patch: async (type, key, patch, options) => this.patch(type, key, patch, options),
    delete: async (type, key) => this.delete(type, key),
    watch: () => {
      throw new Error('watches are not part of this cluster');
    },
    request: async () => {
      throw new Error('raw requests are not part of this cluster');
    },
    close: async () => {},
  };

  all<T extends KubernetesObject>(type: ResourceType<T>): readonly T[] {
    const prefix = `${resourceName(type)} `;
    return [...this.#objects].filter(([key]) => key.startsWith(prefix)).map(([, object]) => object as unknown as T);
  }

  read<T extends KubernetesObject>(type: ResourceType<T>, key: ObjectKey): T | undefined {
    return this.#objects.get(`${resourceName(type)} ${formatKey(key)}`) as T | undefined;
  }

  require<T extends KubernetesObject>(type: ResourceType<T>, key: ObjectKey): T {
    const object = this.read(type, key);
    if (object === undefined) throw StatusError.of('NotFound', `${resourceName(type)} ${formatKey(key)} not found`);
    return object;
  }

  create<T extends KubernetesObject>(type: ResourceType<T>, object: T): T {
    const key = { namespace: object.metadata.namespace ?? 'default', name: object.metadata.name ?? '' };
    if (this.read(type, key) !== undefined) throw StatusError.of('AlreadyExists', `${formatKey(key)} already exists`);
    const creationTimestamp = new Date().toISOString().replace(/\.\d+Z$/, 'Z');
    const metadata = { uid: crypto.randomUUID(), creationTimestamp, generation: 1, ...object.metadata, ...key };
    return this.write(type, key, { ...object, metadata });
  }

  update<T extends KubernetesObject>(type: ResourceType<T>, object: T, options?: WriteOptions): T {
    const key = { namespace: object.metadata.namespace ?? 'default', name: object.metadata.name ?? '' };
    const current = this.require(type, key);
    if (object.metadata.resourceVersion !== current.metadata.resourceVersion) {
      throw StatusError.of('Conflict', `${formatKey(key)} has been changed`);
    }
    const { status } = object as { status?: unknown };
    return this.write(type, key, options?.subresource === 'status' ? { ...current, status } : object);
  }

  patch<T extends KubernetesObject>(type: ResourceType<T>, key: ObjectKey, patch: Patch, _options?: WriteOptions): T {
    const current = this.require(type, key);
    const body = patch.body as { metadata?: { resourceVersion?: string; uid?: string } };
    for (const field of ['resourceVersion', 'uid'] as const) {
      const wanted = body.metadata?.[field];
      if (wanted !== undefined && wanted !== current.metadata[field])
        throw StatusError.of('Conflict', `${field} differs`);
    }
    return this.write(type, key, merge(current, body) as T);
  }

  delete(type: ResourceType, key: ObjectKey): boolean {
    const found = this.#objects.delete(`${resourceName(type)} ${formatKey(key)}`);
    if (found) this.onChange(type, key);
    return found;
  }

  write<T extends KubernetesObject>(type: ResourceType<T>, key: ObjectKey, object: T): T {
    this.#revision++;
    const metadata = { ...object.metadata, resourceVersion: String(this.#revision) };
    const written = freeze({ ...object, metadata });
    this.#objects.set(`${resourceName(type)} ${formatKey(key)}`, written as unknown as Stored);
    this.onChange(type, key);
    return written;
  }
}

/** RFC 7386. */
function merge(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const result: Record<string, unknown> = { ...(target as object) };
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = merge(result[key], value);
  }
  return result;
}

function freeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const each of Object.values(value)) freeze(each);
  return Object.freeze(value);
}
