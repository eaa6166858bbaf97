import type { KeyEvent, Keyspace } from '@castellan/keyspace';
import {
  deepFreeze,
  formatKey,
  type KubernetesObject,
  keyOf,
  type ObjectKey,
  type ResourceType,
} from '@castellan/machinery';
import type { CacheIndex, Reader } from '@castellan/runtime';
import type { History } from './history.js';

/** Where kube-apiserver stores what is not below its own plural. */
const storedAs: Readonly<Record<string, string>> = { nodes: 'minions' };

interface Stored {
  readonly bytes: Uint8Array;
  readonly revision: number;
  object?: KubernetesObject;
}

/**
 * What is in the keyspace now, read without a request: looking changes nothing and is not part of the history. Objects are
 * as they are stored.
 */
export class ClusterState implements Reader {
  readonly #stored = new Map<string, Stored>();
  readonly #history: History;
  #revision = 1;
  /** Called after every write. */
  onWrite: () => void = () => {};

  constructor(history: History) {
    this.#history = history;
  }

  async follow(keyspace: Keyspace): Promise<void> {
    const onEvents = (events: readonly KeyEvent[]) => {
      for (const event of events) this.#apply(event);
      this.onWrite();
    };
    await keyspace.watch({ start: '/registry/', end: '/registry0' }, 0, { onEvents, onEnd: () => {} });
  }

  /** Of the last write. */
  get revision(): number {
    return this.#revision;
  }

  get<T extends KubernetesObject>(type: ResourceType<T>, key: ObjectKey): T | undefined {
    const name = formatKey(key);
    return this.#all(type).find((object) => formatKey(keyOf(object)) === name);
  }

  list<T extends KubernetesObject>(
    type: ResourceType<T>,
    {
      namespace,
      labels = {},
    }: { readonly namespace?: string; readonly labels?: Readonly<Record<string, string>> } = {},
  ): readonly T[] {
    const wanted = Object.entries(labels);
    return this.#all(type).filter(
      ({ metadata }) =>
        (namespace === undefined || metadata.namespace === namespace) &&
        wanted.every(([name, value]) => metadata.labels?.[name] === value),
    );
  }

  ownedBy<T extends KubernetesObject>(type: ResourceType<T>, ownerUid: string): readonly T[] {
    return this.#all(type).filter(({ metadata }) =>
      metadata.ownerReferences?.some(({ controller, uid }) => controller === true && uid === ownerUid),
    );
  }

  byIndex<T extends KubernetesObject>(index: CacheIndex<T>, key: string): readonly T[] {
    return this.#all(index.type).filter((object) => index.keys(object).includes(key));
  }

  /** Every object below `/registry/`, by its key. */
  objects(): readonly (readonly [string, KubernetesObject])[] {
    const keys = [...this.#stored.keys()].sort();
    return keys.flatMap((key) => {
      const stored = this.#stored.get(key);
      const object = stored === undefined ? undefined : objectOf(stored);
      return object === undefined ? [] : [[key, object] as const];
    });
  }

  #all<T extends KubernetesObject>(type: ResourceType<T>): readonly T[] {
    const segment = `/${storedAs[type.plural] ?? type.plural}/`;
    const found: T[] = [];
    for (const [key, stored] of this.#stored) {
      if (!key.includes(segment)) continue;
      const object = objectOf(stored);
      // What is stored as a kind of a group is an object of that type.
      if (object?.kind === type.kind && groupOf(object) === type.group) found.push(object as T);
    }
    return found.sort((one, other) => (formatKey(keyOf(one)) < formatKey(keyOf(other)) ? -1 : 1));
  }

  #apply({ type, key, revision, keyValue }: KeyEvent): void {
    this.#revision = revision;
    if (keyValue === undefined) this.#stored.delete(key);
    else this.#stored.set(key, { bytes: keyValue.value, revision });
    const content = keyValue === undefined ? '' : ` ${fingerprint(keyValue.value)}`;
    this.#history.note('keyspace', 'write', `${revision} ${type} ${key}${content}`);
  }
}

/** `undefined` for what is no object: the addresses of services that are taken, say. */
function objectOf(stored: Stored): KubernetesObject | undefined {
  if (stored.object !== undefined) return stored.object;
  const value: unknown = JSON.parse(Buffer.from(stored.bytes).toString('utf8'));
  if (typeof value !== 'object' || value === null || !('kind' in value) || !('metadata' in value)) return undefined;
  const object = value as KubernetesObject;
  const metadata = { ...object.metadata, resourceVersion: String(stored.revision) };
  stored.object = deepFreeze({ ...object, metadata });
  return stored.object;
}

function groupOf({ apiVersion = '' }: KubernetesObject): string {
  const slash = apiVersion.indexOf('/');
  return slash < 0 ? '' : apiVersion.slice(0, slash);
}

/** FNV-1a: enough to tell two runs apart. */
function fingerprint(bytes: Uint8Array): string {
  let hash = 0x811c9dc5;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, '0');
}
