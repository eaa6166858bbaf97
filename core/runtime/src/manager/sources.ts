import { formatKey, type KubernetesObject, keyOf, type ResourceType } from '@castellan/machinery';
import type { SeenChange } from '../controller/hot-loop.js';
import type { Controller, OwnChange, WatchSource } from '../controller.js';
import type { Change } from '../informer/change.js';
import type { Informer } from '../informer/informer.js';
import type { InformerSet } from '../informer/informer-set.js';
import type { ChannelConsumer, ChannelSource } from '../source/channel-source.js';
import { controllerKeys } from '../source/owner-source.js';

/** A key to reconcile, and what asks for it. */
export interface Trigger {
  readonly key: string;
  /** In words: "pods default/etcd-0 was updated". */
  readonly cause: string;
  readonly priority: number;
  /** Absent where no object has changed. */
  readonly change?: SeenChange;
  /** Where the key's own object was updated: from which version to which. */
  readonly ownUpdate?: OwnChange;
}

type Notify = (trigger: Trigger) => void;

/** What was there when a controller starts can wait for what changes now. As controller-runtime's LowPriority. */
const initialListPriority = -100;

/** The sources of one controller: they tell `notify` of each key that a change concerns, once per change. */
export class ControllerSources {
  readonly #for: ResourceType;
  readonly #informers: InformerSet;
  readonly #notify: Notify;
  readonly #removers: (() => void)[] = [];
  readonly #channels: ChannelConsumer[] = [];
  readonly #watched = new Set<Informer<KubernetesObject>>();
  /** Those without which the controller does not start. */
  readonly #first: readonly Informer<KubernetesObject>[];

  constructor(controller: Controller, informers: InformerSet, notify: Notify) {
    this.#for = controller.for;
    this.#informers = informers;
    this.#notify = notify;
    this.#addWatches([
      { type: controller.for, map: (object) => [keyOf(object)], ...whenOf(controller) },
      ...(controller.owns ?? []).map((type) => ({ type, map: controllerKeys })),
      ...(controller.watches ?? []),
    ]);
    for (const index of controller.indexes ?? []) informers.addIndex(index);
    this.#first = [...this.#watched];
    for (const channel of controller.channels ?? []) this.add(channel);
  }

  /** May be called at any time: what is in the cache by then is told as added. */
  add(source: WatchSource | ChannelSource): void {
    if ('type' in source) this.#addWatches([source]);
    else this.#attach(source);
  }

  /** What was named when the controller was made is in the cache. */
  async synced(): Promise<void> {
    await Promise.all(this.#first.map((informer) => informer.whenSynced()));
  }

  /** A worker has this key. */
  taken(key: string): void {
    for (const channel of this.#channels) channel.taken(key);
  }

  removeAll(): void {
    for (const remove of this.#removers) remove();
    for (const channel of this.#channels) channel.detach();
  }

  #attach(channel: ChannelSource): void {
    const { name, priority = 0 } = channel;
    this.#channels.push(channel.attach((key) => this.#notify({ key, cause: `${name} asked for it`, priority })));
  }

  /** Those of one type share a handler: a change that concerns a key in several ways is told once. */
  #addWatches(sources: readonly WatchSource[]): void {
    const byInformer = new Map<Informer<KubernetesObject>, WatchSource[]>();
    for (const source of sources) {
      const informer = this.#informers.watch(source.type);
      byInformer.set(informer, [...(byInformer.get(informer) ?? []), source]);
    }
    for (const [informer, sourcesOfType] of byInformer) {
      this.#watched.add(informer);
      let isReplay = true;
      const registration = informer.addHandler((change) => {
        const isInitial = change.kind === 'added' && (isReplay || !informer.isSynced);
        this.#tell(informer.type, sourcesOfType, change, isInitial ? initialListPriority : 0);
      });
      isReplay = false;
      this.#removers.push(() => registration.remove());
    }
  }

  #tell(type: ResourceType, sources: readonly WatchSource[], change: Change<KubernetesObject>, base: number): void {
    const priorities = new Map<string, number>();
    for (const source of sources) {
      if (source.when !== undefined && !source.when(change)) continue;
      const priority = base + (source.priority ?? 0);
      // An update concerns whom the object concerned before as well: an owner may have been taken from it.
      const before = change.kind === 'updated' ? source.map(change.previous, this.#for, change) : [];
      for (const key of [...before, ...source.map(change.object, this.#for, change)].map(formatKey)) {
        priorities.set(key, Math.max(priority, priorities.get(key) ?? priority));
      }
    }
    const cause = `${type.plural} ${formatKey(keyOf(change.object))} was ${change.kind}`;
    const seen = seenChange(type, change);
    const own = type === this.#for ? formatKey(keyOf(change.object)) : undefined;
    for (const [key, priority] of priorities) {
      this.#notify({ key, cause, priority, change: seen, ...(key === own && ownUpdateOf(change)) });
    }
  }
}

function whenOf({ when }: Controller): Pick<WatchSource, 'when'> {
  return when === undefined ? {} : { when };
}

function ownUpdateOf(change: Change<KubernetesObject>): Pick<Trigger, 'ownUpdate'> {
  if (change.kind !== 'updated') return {};
  const { resourceVersion: from = '' } = change.previous.metadata;
  const { resourceVersion: to = '' } = change.object.metadata;
  return { ownUpdate: { from, to } };
}

function seenChange(type: ResourceType, change: Change<KubernetesObject>): SeenChange {
  const object = `${type.kind} ${formatKey(keyOf(change.object))}`;
  switch (change.kind) {
    case 'added':
      return { object, after: change.object };
    case 'updated':
      return { object, before: change.previous, after: change.object };
    case 'deleted':
      return { object, before: change.object };
  }
}
