import type { Client } from '@castellan/client';
import {
  isStatusError,
  type KubernetesObject,
  type ObjectKey,
  type ResourceType,
  resourceName,
} from '@castellan/machinery';
import type { World } from '@castellan/world';
import type { CacheIndex } from '../cache/cache-index.js';
import { cacheName, cachePartOf } from '../cache/cached-type.js';
import { assertBounded } from '../cache/whole-cache.js';
import type { Log } from '../controller.js';
import { errorMessage } from '../error-message.js';
import type { ListSelection, Reader } from '../reader.js';
import { Informer, type InformerState } from './informer.js';

export interface InformerSetOptions {
  readonly client: Client;
  readonly world: World;
  readonly log: Log;
  /** Follows this namespace only; cluster-scoped types are followed whole, and types that name namespaces in those. */
  readonly namespace?: string;
  readonly usesWatchList?: boolean;
  /** All objects of a cluster may be held in full, of any type. */
  readonly wholeCache?: boolean;
}

export interface CacheStatus {
  /** The type and the part of it that is held, as `pods/v1 (status.conditions)`. */
  readonly name: string;
  readonly state: InformerState;
  readonly isSynced: boolean;
  readonly objects: number;
  readonly revision: string;
}

/** One informer per type and part, shared by all controllers of a manager, and read as one cache. */
export class InformerSet implements Reader {
  readonly #options: InformerSetOptions;
  readonly #byName = new Map<string, Informer<KubernetesObject>>();
  /** Types are long-lived constants: looked up by identity before a name is made. */
  readonly #byType = new WeakMap<ResourceType, Informer<KubernetesObject>>();

  constructor(options: InformerSetOptions) {
    this.#options = options;
  }

  /** The informer of a type, made when it is first asked for. Throws when it would hold too much, and nobody said so. */
  watch<T extends KubernetesObject>(type: ResourceType<T>): Informer<T> {
    const { client, world, log, namespace, usesWatchList, wholeCache } = this.#options;
    const present = this.find(type);
    if (present !== undefined) return present;
    if (namespace === undefined && wholeCache !== true) assertBounded(type);
    const name = cacheName(type);
    const informer = new Informer<T>({
      client,
      world,
      type,
      ...(namespace === undefined ? {} : { namespaces: [namespace] }),
      ...(usesWatchList === undefined ? {} : { usesWatchList }),
      onProblem: (error, restMs) => {
        // Of a kind that is missing the new state tells.
        if (isStatusError(error, 'NotFound')) return;
        // Every server forgets its history at times; the list that follows is the usual way on.
        const level = isStatusError(error, 'Expired', 'Gone') ? 'debug' : 'warn';
        log[level](`watching ${resourceName(type)}: ${errorMessage(error)}`, {
          cache: name,
          restMs: Math.round(restMs),
        });
      },
      onState: (state) => {
        if (state === 'waiting for the kind')
          log.warn(`${resourceName(type)} is not served: waiting until it is`, { cache: name });
        else log.debug(`${resourceName(type)}: ${state}`, { cache: name });
      },
    });
    this.#byName.set(name, informer as unknown as Informer<KubernetesObject>);
    return informer;
  }

  find<T extends KubernetesObject>(type: ResourceType<T>): Informer<T> | undefined {
    let informer = this.#byType.get(type);
    if (informer === undefined) {
      informer = this.#byName.get(cacheName(type));
      if (informer !== undefined) this.#byType.set(type, informer);
    }
    // A type is a name at run time and T exists at compile time only: what was stored under a name has that name's T.
    return informer as unknown as Informer<T> | undefined;
  }

  all(): readonly Informer<KubernetesObject>[] {
    return [...this.#byName.values()];
  }

  status(): readonly CacheStatus[] {
    return [...this.#byName].map(([name, { state, isSynced, size, revision }]) => ({
      name,
      state,
      isSynced,
      objects: size,
      revision,
    }));
  }

  addIndex(index: CacheIndex): void {
    this.watch(index.type).addIndex(index);
  }

  get<T extends KubernetesObject>(type: ResourceType<T>, key: ObjectKey): T | undefined {
    return this.#known(type, key.namespace).get(key);
  }

  list<T extends KubernetesObject>(type: ResourceType<T>, options: ListSelection = {}): readonly T[] {
    const objects = this.#known(type, options.namespace).list(options.namespace);
    const wanted = Object.entries(options.labels ?? {});
    if (wanted.length === 0) return [...objects];
    return [...objects].filter(({ metadata }) => wanted.every(([name, value]) => metadata.labels?.[name] === value));
  }

  ownedBy<T extends KubernetesObject>(type: ResourceType<T>, ownerUid: string): readonly T[] {
    return this.#known(type).ownedBy(ownerUid);
  }

  byIndex<T extends KubernetesObject>(index: CacheIndex<T>, key: string): readonly T[] {
    const found = this.#known(index.type).byIndex(index, key);
    if (found !== undefined) return found;
    throw new Error(
      `the index ${index.name} of ${cacheName(index.type)} is not kept: name it in indexes of the controller that reads it, or of the manager`,
    );
  }

  /** A write of this process returned `written`, whole: every cache of its type has it from now on. */
  noteWrite<T extends KubernetesObject>(type: ResourceType<T>, written: T): void {
    for (const informer of this.#ofResource(type)) informer.noteWrite(written);
  }

  /** This process deleted the object with `uid`. */
  noteDelete(type: ResourceType, key: ObjectKey, uid: string): void {
    for (const informer of this.#ofResource(type)) informer.noteDelete(key, uid);
  }

  /** Which object is under this name now, as far as any cache knows. */
  uidOf(type: ResourceType, key: ObjectKey): string | undefined {
    for (const informer of this.#ofResource(type)) {
      const uid = informer.get(key)?.metadata.uid;
      if (uid !== undefined) return uid;
    }
    return undefined;
  }

  #ofResource({ group, plural, version }: ResourceType): readonly Informer<KubernetesObject>[] {
    return this.all().filter(({ type }) => type.plural === plural && type.group === group && type.version === version);
  }

  #known<T extends KubernetesObject>(type: ResourceType<T>, namespace?: string): Informer<T> {
    const informer = this.find(type);
    if (informer === undefined) throw this.#notCached(type);
    const { namespaces } = informer;
    if (namespace !== undefined && namespaces?.includes(namespace) === false) {
      throw new Error(
        `${cacheName(type)} is cached in ${namespaces.join(', ')} only, so nothing is known of ${namespace}: read it with the client`,
      );
    }
    return informer;
  }

  #notCached(type: ResourceType): Error {
    const parts = this.#ofResource(type).map((informer) => cacheName(informer.type));
    if (parts.length > 0 && Object.keys(cachePartOf(type)).length === 0) {
      return new Error(
        `${cacheName(type)} is not cached whole, but as ${parts.join(' and as ')}: read it with the type that was made for that ` +
          '(by pick, metadataOf or cached), name the whole type in for, owns or watches, or read it with the client',
      );
    }
    const known = [...this.#byName.keys()].join(', ');
    return new Error(
      `no controller of this manager watches ${cacheName(type)}, so it is not cached: name it in for, owns or watches ` +
        `(watched are: ${known === '' ? 'none' : known}), or read it with the client`,
    );
  }
}
