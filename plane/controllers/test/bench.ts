import { type KubernetesObject, keyOf, type ObjectKey, type ResourceType } from '@castellan/machinery';
import type { CacheIndex, Controller, EventNote, Reader, ReconcileContext, ReconcileResult } from '@castellan/runtime';
import { simulatedWorld } from '@castellan/world';
import { FakeApiServer } from './fake-api-server.js';

/** One controller over a simulated API server, with a cache that shows the server as it was at the last `sync()`. */
export class Bench {
  readonly server = new FakeApiServer();
  readonly notes: EventNote[] = [];
  readonly world = simulatedWorld(1);
  readonly #controller: Controller;
  readonly #types: readonly ResourceType[];
  #cached = new Map<string, readonly KubernetesObject[]>();

  constructor(controller: Controller) {
    this.#controller = controller;
    const watched = controller.watches?.map(({ type }) => type) ?? [];
    this.#types = [controller.for, ...(controller.owns ?? []), ...watched];
  }

  /** The cache catches up with the server. */
  async sync(): Promise<void> {
    for (const type of this.#types) this.#cached.set(type.plural, (await this.server.list(type)).items);
  }

  /** Reconciles with a cache that is up to date. */
  async reconcile(key: ObjectKey): Promise<ReconcileResult> {
    await this.sync();
    return this.reconcileStale(key);
  }

  /** Reconciles with whatever the cache shows. */
  reconcileStale(key: ObjectKey): Promise<ReconcileResult> {
    return this.#controller.reconcile(key, this.#context());
  }

  /** What a change of this object leads to. */
  keysFor(type: ResourceType, object: KubernetesObject): readonly ObjectKey[] {
    const sources = this.#controller.watches?.filter((source) => source.type.plural === type.plural) ?? [];
    return sources.flatMap(({ map }) => map(object, this.#controller.for, { kind: 'added', object }));
  }

  #context(): ReconcileContext {
    const list = (type: ResourceType, options: { namespace?: string; labels?: Record<string, string> } = {}) =>
      (this.#cached.get(type.plural) ?? []).filter(({ metadata }) => {
        const hasLabels = Object.entries(options.labels ?? {}).every(
          ([key, value]) => metadata.labels?.[key] === value,
        );
        return hasLabels && (options.namespace ?? metadata.namespace) === metadata.namespace;
      });
    const cache = {
      list,
      get: (type: ResourceType, key: ObjectKey) =>
        list(type).find((object) => {
          const { namespace, name } = keyOf(object);
          return namespace === key.namespace && name === key.name;
        }),
      ownedBy: (type: ResourceType, uid: string) =>
        list(type).filter(({ metadata }) =>
          metadata.ownerReferences?.some((owner) => owner.controller === true && owner.uid === uid),
        ),
      byIndex: ({ type, keys }: CacheIndex, key: string) => list(type).filter((object) => keys(object).includes(key)),
    } as unknown as Reader;
    const quiet = () => undefined;
    return {
      cache,
      client: this.server,
      world: this.world,
      signal: new AbortController().signal,
      log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
      events: { record: (_, note) => this.notes.push(note) },
    };
  }
}
