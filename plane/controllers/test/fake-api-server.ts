import type {
  Client,
  DeleteOptions,
  ListOptions,
  Patch,
  RawRequest,
  RawResponse,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from '@castellan/client';
import {
  apiVersionOf,
  applyStrategicMergePatch,
  configMaps,
  customResourceDefinitions,
  endpointSlices,
  endpoints,
  events,
  formatKey,
  type KubernetesObject,
  keyOf,
  mergeRulesOf,
  namespaces,
  type ObjectKey,
  type ObjectMeta,
  pods,
  type ResourceType,
  StatusError,
  serviceAccounts,
  services,
} from '@castellan/machinery';

type StoredObject = KubernetesObject & Record<string, unknown>;

interface Change {
  readonly revision: number;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly resource: string;
  readonly object: StoredObject;
}

/**
 * A simulated API server for controllers' tests: objects in memory behind the `Client` interface, with revisions,
 * watches, finalizers, deletion propagation and preconditions as the real one has them. No validation, no defaults.
 */
export class FakeApiServer implements Client {
  /** What was asked to be written, as `delete pods default/a`. */
  readonly writes: string[] = [];
  /** Called before each write; may throw to refuse it. */
  beforeWrite: ((write: string) => void) | undefined;
  /** Discovery of this group fails. */
  brokenGroup: string | undefined;
  openWatches = 0;
  requests = 0;

  readonly #types = new Map<string, ResourceType>();
  readonly #objects = new Map<string, StoredObject>();
  readonly #changes: Change[] = [];
  readonly #listeners = new Set<() => void>();
  #revision = 1;
  #uids = 0;
  #forgottenRevision = 0;
  #cuts = 0;

  constructor() {
    for (const type of builtIn) this.serve(type);
  }

  serve(type: ResourceType): void {
    this.#types.set(nameOf(type), type);
  }

  /** The kind is not served any more. Its objects are there still, and nobody can see them. */
  withdraw(type: ResourceType): void {
    this.#types.delete(nameOf(type));
  }

  /** Every watch ends; those from before now are refused as expired. */
  expireWatches(): void {
    this.#forgottenRevision = this.#revision;
    this.cutConnections();
  }

  /** Every open stream breaks. */
  cutConnections(): void {
    this.#cuts++;
    this.#notify();
  }

  /** An object as if it had always been there. */
  async add<T extends KubernetesObject>(type: ResourceType<T>, object: T): Promise<T> {
    const created = await this.create(type, object);
    this.writes.pop();
    return created;
  }

  has(type: ResourceType, key: ObjectKey): boolean {
    return this.#objects.has(pathOf(type, key));
  }

  namesOf(type: ResourceType): readonly string[] {
    return this.#all(type).map((object) => formatKey(keyOf(object)));
  }

  async get<T extends KubernetesObject>(type: ResourceType<T>, key: ObjectKey): Promise<T> {
    this.requests++;
    const found = this.#objects.get(pathOf(type, key));
    if (found === undefined) throw StatusError.of('NotFound', `${type.plural} "${formatKey(key)}" not found`);
    return found as unknown as T;
  }

  async find<T extends KubernetesObject>(type: ResourceType<T>, key: ObjectKey): Promise<T | undefined> {
    return this.get(type, key).catch(() => undefined);
  }

  async list<T extends KubernetesObject>(type: ResourceType<T>, options: ListOptions = {}) {
    this.requests++;
    if (!this.#types.has(nameOf(type))) throw StatusError.of('NotFound', 'the server could not find the resource');
    const items = this.#all(type).filter(
      (object) =>
        (options.namespace ?? object.metadata.namespace) === object.metadata.namespace && isNamed(object, options),
    );
    const metadata = { resourceVersion: String(this.#revision) };
    return { apiVersion: apiVersionOf(type), kind: `${type.kind}List`, metadata, items: items as unknown as T[] };
  }

  async create<T extends KubernetesObject>(type: ResourceType<T>, object: T, options: WriteOptions = {}): Promise<T> {
    const key = keyOf(object);
    this.#noteWrite(`create ${type.plural} ${formatKey(key)}`, options);
    const namespace = this.#objects.get(pathOf(namespaces, { name: key.namespace ?? '' }));
    if (key.namespace !== undefined && namespace?.metadata.deletionTimestamp !== undefined) {
      const causes = [{ reason: 'NamespaceTerminating', field: 'metadata.namespace' }];
      throw StatusError.of('Forbidden', `namespace ${key.namespace} is being terminated`, { causes });
    }
    if (this.#objects.has(pathOf(type, key))) throw StatusError.of('AlreadyExists', `${formatKey(key)} already exists`);
    const metadata = { uid: `uid-${++this.#uids}`, creationTimestamp: '2026-01-01T00:00:00Z', ...object.metadata };
    return this.#store('ADDED', type, { apiVersion: apiVersionOf(type), kind: type.kind, ...object, metadata }) as T;
  }

  async update<T extends KubernetesObject>(type: ResourceType<T>, object: T, options: WriteOptions = {}): Promise<T> {
    this.#noteWrite(`update ${withSubresource(type, options)} ${formatKey(keyOf(object))}`, options);
    const before = (await this.get(type, keyOf(object))) as unknown as StoredObject;
    requireVersion(before, object.metadata);
    return this.#change(type, { ...before, ...object }) as T;
  }

  async patch<T extends KubernetesObject>(
    type: ResourceType<T>,
    key: ObjectKey,
    patch: Patch,
    options: WriteOptions = {},
  ): Promise<T> {
    this.#noteWrite(`patch ${withSubresource(type, options)} ${formatKey(key)}`, options);
    const before = (await this.get(type, key)) as unknown as StoredObject;
    const body = patch.body as { readonly metadata?: ObjectMeta };
    requireVersion(before, body.metadata ?? {});
    const after =
      patch.type === 'strategic'
        ? applyStrategicMergePatch(before, body, mergeRulesOf(type))
        : mergePatch(before, body);
    return this.#change(type, after as StoredObject) as unknown as T;
  }

  async delete(type: ResourceType, key: ObjectKey, options: DeleteOptions = {}): Promise<boolean> {
    const policy = options.propagationPolicy === undefined ? '' : ` ${options.propagationPolicy}`;
    this.#noteWrite(`delete ${type.plural} ${formatKey(key)}${policy}`, options);
    const object = this.#objects.get(pathOf(type, key));
    if (object === undefined) return false;
    requireVersion(object, options.preconditions ?? {});
    const finalizers = new Set(object.metadata.finalizers);
    if (options.propagationPolicy === 'Foreground') finalizers.add('foregroundDeletion');
    if (options.propagationPolicy === 'Orphan') finalizers.add('orphan');
    const metadata = { ...object.metadata, deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [...finalizers] };
    this.#change(type, { ...object, metadata });
    return true;
  }

  async *watch<T extends KubernetesObject>(type: ResourceType<T>, options: WatchOptions): AsyncIterable<WatchEvent<T>> {
    this.requests++;
    let revision = Number(options.resourceVersion ?? this.#revision);
    if (revision < this.#forgottenRevision) throw StatusError.of('Expired', 'too old resource version');
    const cuts = this.#cuts;
    this.openWatches++;
    try {
      while (options.signal?.aborted !== true) {
        const pending = this.#changes.filter(
          (change) => change.revision > revision && change.resource === nameOf(type),
        );
        for (const change of pending) {
          revision = change.revision;
          if (!isNamed(change.object, options)) continue;
          yield { type: change.type, object: change.object as unknown as T };
        }
        if (this.#cuts !== cuts) throw new Error('the connection was cut');
        if (pending.length === 0) await this.#nextChange(options.signal);
      }
    } finally {
      this.openWatches--;
    }
  }

  /** Discovery only. */
  async request({ path }: RawRequest): Promise<RawResponse> {
    this.requests++;
    if (path === `/apis/${this.brokenGroup}/v1`) return reply(503, { kind: 'Status' });
    const types = [...this.#types.values()];
    const groups = [...new Set(types.map(({ group }) => group))].filter((group) => group !== '');
    const document =
      path === '/apis'
        ? { kind: 'APIGroupList', groups: groups.map((name) => ({ name, preferredVersion: { version: 'v1' } })) }
        : {
            kind: 'APIResourceList',
            resources: types
              .filter((type) => path === (type.group === '' ? '/api/v1' : `/apis/${type.group}/v1`))
              .map(({ plural, kind, isNamespaced }) => ({
                name: plural,
                kind,
                namespaced: isNamespaced,
                verbs: allVerbs,
              })),
          };
    return reply(200, document);
  }

  async close(): Promise<void> {}

  #all(type: ResourceType): readonly StoredObject[] {
    const prefix = `${nameOf(type)} `;
    return [...this.#objects].filter(([path]) => path.startsWith(prefix)).map(([, object]) => object);
  }

  #noteWrite(write: string, { signal }: { readonly signal?: AbortSignal }): void {
    signal?.throwIfAborted();
    this.requests++;
    this.beforeWrite?.(write);
    this.writes.push(write);
  }

  /** Stores a changed object, or lets it go when it is being deleted and nothing holds it. */
  #change(type: ResourceType, object: StoredObject): StoredObject {
    const spec = object.spec as { readonly finalizers?: readonly string[] } | undefined;
    const isHeld = (object.metadata.finalizers ?? []).length + (spec?.finalizers ?? []).length > 0;
    const isGone = object.metadata.deletionTimestamp !== undefined && !isHeld;
    return this.#store(isGone ? 'DELETED' : 'MODIFIED', type, object);
  }

  #store(change: Change['type'], type: ResourceType, object: KubernetesObject): StoredObject {
    const revision = ++this.#revision;
    const stored = { ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } } as StoredObject;
    if (change === 'DELETED') this.#objects.delete(pathOf(type, keyOf(object)));
    else this.#objects.set(pathOf(type, keyOf(object)), stored);
    this.#changes.push({ revision, type: change, resource: nameOf(type), object: stored });
    this.#notify();
    return stored;
  }

  #notify(): void {
    for (const listener of [...this.#listeners]) listener();
  }

  #nextChange(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        this.#listeners.delete(done);
        signal?.removeEventListener('abort', done);
        resolve();
      };
      this.#listeners.add(done);
      signal?.addEventListener('abort', done);
    });
  }
}

function reply(status: number, document: unknown): RawResponse {
  const body = (async function* () {
    yield Buffer.from(JSON.stringify(document));
  })();
  return { status, headers: {}, body };
}

const allVerbs = ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'];

const builtIn: readonly ResourceType[] = [
  configMaps,
  customResourceDefinitions,
  endpointSlices,
  endpoints,
  events,
  namespaces,
  pods,
  serviceAccounts,
  services,
];

/** Of field selectors only `metadata.name=…` is known. */
function isNamed({ metadata }: KubernetesObject, { fieldSelector }: { readonly fieldSelector?: string }): boolean {
  return fieldSelector === undefined || fieldSelector === `metadata.name=${metadata.name}`;
}

function nameOf({ group, plural }: ResourceType): string {
  return `${plural}.${group}`;
}

function pathOf(type: ResourceType, key: ObjectKey): string {
  return `${nameOf(type)} ${formatKey(key)}`;
}

function withSubresource({ plural }: ResourceType, { subresource }: WriteOptions): string {
  return subresource === undefined ? plural : `${plural}/${subresource}`;
}

function requireVersion(
  object: KubernetesObject,
  wanted: { readonly uid?: string; readonly resourceVersion?: string },
) {
  const { uid, resourceVersion } = object.metadata;
  if ((wanted.uid ?? uid) === uid && (wanted.resourceVersion ?? resourceVersion) === resourceVersion) return;
  throw StatusError.of('Conflict', 'the object has been modified');
}

function mergePatch(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const result = { ...(typeof target === 'object' && !Array.isArray(target) ? target : {}) } as Record<string, unknown>;
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = mergePatch(result[key], value);
  }
  return result;
}
