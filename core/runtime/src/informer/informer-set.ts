import type { Client } from '@castellan/client';
import {
  isStatusError,
  type KubernetesObject,
  type ObjectKey,
  type ResourceType,
  resourceName,
} from '@castellan/machinery';
import type { World } from '@castellan/world';
import type { Log } from '../controller.js';
import { errorMessage } from '../error-message.js';
import type { Reader } from '../reader.js';
import { Informer } from './informer.js';

export interface InformerSetOptions {
  readonly client: Client;
  readonly world: World;
  readonly log: Log;
  /** Follows this namespace only; cluster-scoped types are followed whole. */
  readonly namespace?: string;
  readonly usesWatchList?: boolean;
}

/** One informer per type, shared by all controllers of a manager, and read as one cache. */
export class InformerSet implements Reader {
  readonly #options: InformerSetOptions;
  readonly #byName = new Map<string, Informer<KubernetesObject>>();
  /** Types are long-lived constants: looked up by identity before a name is made. */
  readonly #byType = new WeakMap<ResourceType, Informer<KubernetesObject>>();

  constructor(options: InformerSetOptions) {
    this.#options = options;
  }

  /** The informer of a type, made when it is first asked for. */
  watch<T extends KubernetesObject>(type: ResourceType<T>): Informer<T> {
    const present = this.find(type);
    if (present !== undefined) return present;
    const { client, world, log, namespace, usesWatchList } = this.#options;
    const informer = new Informer<T>({
      client,
      world,
      type,
      ...(namespace === undefined || !type.isNamespaced ? {} : { namespace }),
      ...(usesWatchList === undefined ? {} : { usesWatchList }),
      onProblem: (error, restMs) => {
        const message = errorMessage(error);
        // Every server forgets its history at times; the list that follows is the usual way on.
        const level = isStatusError(error, 'Expired', 'Gone') ? 'debug' : 'warn';
        log[level](`watching ${resourceName(type)}: ${message}`, { restMs: Math.round(restMs) });
      },
    });
    this.#byName.set(nameOf(type), informer as unknown as Informer<KubernetesObject>);
    return informer;
  }

  find<T extends KubernetesObject>(type: ResourceType<T>): Informer<T> | undefined {
    let informer = this.#byType.get(type);
    if (informer === undefined) {
      informer = this.#byName.get(nameOf(type));
      if (informer !== undefined) this.#byType.set(type, informer);
    }
    // A type is a name at run time and T exists at compile time only: what was stored under a name has that name's T.
    return informer as unknown as Informer<T> | undefined;
  }

  all(): readonly Informer<KubernetesObject>[] {
    return [...this.#byName.values()];
  }

  get<T extends KubernetesObject>(type: ResourceType<T>, key: ObjectKey): T | undefined {
    return this.#known(type).get(key);
  }

  list<T extends KubernetesObject>(
    type: ResourceType<T>,
    options: { readonly namespace?: string; readonly labels?: Readonly<Record<string, string>> } = {},
  ): readonly T[] {
    const objects = this.#known(type).list(options.namespace);
    const wanted = Object.entries(options.labels ?? {});
    if (wanted.length === 0) return [...objects];
    return [...objects].filter(({ metadata }) => wanted.every(([name, value]) => metadata.labels?.[name] === value));
  }

  ownedBy<T extends KubernetesObject>(type: ResourceType<T>, ownerUid: string): readonly T[] {
    return this.#known(type).ownedBy(ownerUid);
  }

  #known<T extends KubernetesObject>(type: ResourceType<T>): Informer<T> {
    const informer = this.find(type);
    if (informer !== undefined) return informer;
    const known = [...this.#byName.keys()].join(', ');
    throw new Error(
      `no controller of this manager watches ${nameOf(type)}, so it is not cached: name it in for, owns or watches ` +
        `(watched are: ${known === '' ? 'none' : known}), or read it with the client`,
    );
  }
}

function nameOf(type: ResourceType): string {
  return `${resourceName(type)}/${type.version}`;
}
