import { customResourceDefinitions, type ObjectMeta, resourceName } from '@castellan/machinery';
import type { Cancel } from '@castellan/world';
import type { Component, ComponentContext } from '../component.js';
import { discover, type ServedResource } from '../discovery.js';
import { AbsentOwners, examine } from './examine.js';
import { followMetadata } from './follow-metadata.js';
import { isSameResource, OwnerGraph } from './owner-graph.js';
import { SuspectQueue } from './suspect-queue.js';

const workers = 8;
const discoveryIntervalMs = 5 * 60_000;
/** A definition is served a little after it is written: look at once, and once more. */
const discoveryDelaysMs = [50, 1_000];
/** A kind that cannot be listed holds the others up this long at most. */
const firstListDeadlineMs = 10_000;
/** Upstream leaves them alone too: they are many, short-lived, and own nothing. */
const ignoredResources = new Set(['events', 'events.events.k8s.io']);

/**
 * Deletes what lost its owners, as Kubernetes does: background, foreground and orphan propagation. It watches the
 * metadata of every kind that can be deleted, and follows definitions of kinds as they come and go.
 */
export function garbageCollector(context: ComponentContext): Component {
  return { name: 'garbage-collector', run: (signal) => new GarbageCollector(context, signal).run() };
}

interface Monitor {
  readonly resource: ServedResource;
  readonly stop: AbortController;
  isListed: boolean;
}

class GarbageCollector {
  readonly #context: ComponentContext;
  readonly #signal: AbortSignal;
  readonly #graph = new OwnerGraph();
  readonly #queue: SuspectQueue;
  readonly #absentOwners = new AbsentOwners();
  readonly #monitors = new Map<string, Monitor>();
  readonly #following = new Set<Promise<void>>();
  #kinds = new Map<string, ServedResource>();
  #discoveries: Cancel[] = [];

  constructor(context: ComponentContext, signal: AbortSignal) {
    this.#context = context;
    this.#signal = signal;
    this.#queue = new SuspectQueue(context.world);
  }

  async run(): Promise<void> {
    const discovering = this.#keepDiscovering();
    const cancelDeadline = this.#context.world.clock.after(firstListDeadlineMs, () => this.#queue.open());
    await this.#queue.run(workers, (uid) => this.#examine(uid), this.#signal);
    cancelDeadline();
    for (const cancel of this.#discoveries) cancel();
    await discovering;
    await Promise.all(this.#following);
  }

  async #examine(uid: string): Promise<'done' | 'again'> {
    try {
      return await examine(uid, {
        ...this.#context,
        graph: this.#graph,
        absentOwners: this.#absentOwners,
        resourceOf: (group, kind) => this.#kinds.get(`${group}/${kind}`),
        suspect: (uids) => this.#queue.add(uids),
        signal: this.#signal,
      });
    } catch (error) {
      if (this.#signal.aborted) return 'done';
      const node = this.#graph.get(uid);
      this.#context.log.warn('could not collect', {
        kind: node?.resource.kind,
        namespace: node?.namespace,
        name: node?.name,
        uid,
        error: String(error),
      });
      return 'again';
    }
  }

  async #keepDiscovering(): Promise<void> {
    let failures = 0;
    while (!this.#signal.aborted) {
      const isDone = await this.#discover();
      failures = isDone ? 0 : failures + 1;
      const delayMs = isDone ? discoveryIntervalMs : Math.min(10_000, 100 * 2 ** Math.min(failures, 10));
      await this.#context.world.clock.sleep(delayMs, this.#signal).catch(() => undefined);
    }
  }

  async #discover(): Promise<boolean> {
    const { client, log } = this.#context;
    try {
      const { resources, failed } = await discover(client, this.#signal);
      this.#follow(resources, failed);
      return failed.length === 0;
    } catch (error) {
      if (!this.#signal.aborted)
        log.warn('discovery failed: kinds that are new are not collected yet', { error: String(error) });
      return false;
    }
  }

  /** Starts a watch for each new kind and ends those of kinds that are gone; a group that failed keeps what it had. */
  #follow(resources: readonly ServedResource[], failed: readonly string[]): void {
    const keepsFailed = (resource: ServedResource) =>
      failed.some((version) => version.split('/')[0] === resource.group);
    const isServed = new Set(resources.map((resource) => versionedName(resource)));
    for (const [kind, resource] of this.#kinds) {
      if (!isServed.has(versionedName(resource)) && !keepsFailed(resource)) this.#kinds.delete(kind);
    }
    for (const resource of resources) this.#kinds.set(`${resource.group}/${resource.kind}`, resource);

    for (const [name, { resource, stop }] of this.#monitors) {
      if (isServed.has(name) || keepsFailed(resource)) continue;
      stop.abort();
      this.#monitors.delete(name);
      this.#forget(resource);
    }
    for (const resource of resources.filter(isCollectable)) this.#monitor(resource);
    this.#queue.retryNow();
    this.#openWhenListed();
  }

  /** The objects of a kind that is not served any more: not known to be gone, just not to be seen. */
  #forget(resource: ServedResource): void {
    for (const uid of this.#graph.uidsOf(resource)) this.#queue.add(this.#graph.remove(uid));
  }

  #monitor(resource: ServedResource): void {
    const name = versionedName(resource);
    if (this.#monitors.has(name)) return;
    const monitor: Monitor = { resource, stop: new AbortController(), isListed: false };
    this.#monitors.set(name, monitor);
    const isDefinitions = isSameResource(resource, { ...customResourceDefinitions, verbs: [] });
    const sink = {
      onListed: (objects: readonly ObjectMeta[]) => {
        const uids = new Set(objects.map(({ uid }) => uid));
        for (const uid of this.#graph.uidsOf(resource)) if (!uids.has(uid)) this.#queue.add(this.#graph.remove(uid));
        for (const object of objects) this.#queue.add(this.#graph.observe(resource, object));
        monitor.isListed = true;
        this.#openWhenListed();
      },
      onChanged: (object: ObjectMeta) => {
        this.#queue.add(this.#graph.observe(resource, object));
        if (isDefinitions) this.#discoverSoon();
      },
      onDeleted: ({ uid = '' }: ObjectMeta) => {
        this.#queue.add(this.#graph.remove(uid));
        if (isDefinitions) this.#discoverSoon();
      },
    };
    const signal = AbortSignal.any([this.#signal, monitor.stop.signal]);
    const following = followMetadata(resource, sink, this.#context, signal).finally(() =>
      this.#following.delete(following),
    );
    this.#following.add(following);
  }

  /** Before every kind was listed once, a dependent may seem to have none, and an owner seem unseen. */
  #openWhenListed(): void {
    if ([...this.#monitors.values()].every(({ isListed }) => isListed)) this.#queue.open();
  }

  #discoverSoon(): void {
    for (const cancel of this.#discoveries) cancel();
    this.#discoveries = discoveryDelaysMs.map((delayMs) =>
      this.#context.world.clock.after(delayMs, () => void this.#discover()),
    );
  }
}

function isCollectable(resource: ServedResource): boolean {
  const isWatchable = ['delete', 'list', 'watch'].every((verb) => resource.verbs.includes(verb));
  return isWatchable && !ignoredResources.has(resourceName(resource));
}

function versionedName(resource: ServedResource): string {
  return `${resourceName(resource)}/${resource.version}`;
}
