import { customResourceDefinitions, resourceName } from '@castellan/machinery';
import { KeyedBackoff, runReflector, WorkQueue } from '@castellan/runtime';
import type { Cancel } from '@castellan/world';
import type { Component, ComponentContext } from '../component.js';
import { discover, forManyListeners, type ServedResource } from '../discovery.js';
import { AbsentOwners } from './absent-owners.js';
import { examine } from './examine.js';
import { isSameResource, OwnerGraph, type Suspects } from './owner-graph.js';

const workers = 8;
const backoff = { baseMs: 20, capMs: 60_000 };
const discoveryIntervalMs = 5 * 60_000;
const discoveryBackoff = { baseMs: 200, capMs: 10_000 };
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
  readonly #queue: WorkQueue;
  readonly #absentOwners = new AbsentOwners();
  /** Suspects without a verdict yet: looked at again in time, and at once when kinds have appeared. */
  readonly #unjudged = new Set<string>();
  readonly #monitors = new Map<string, Monitor>();
  readonly #reflecting = new Set<Promise<void>>();
  readonly #kinds = new Map<string, ServedResource>();
  #discoveries: Cancel[] = [];
  #open: () => void = () => undefined;

  constructor(context: ComponentContext, signal: AbortSignal) {
    this.#context = context;
    this.#signal = forManyListeners(signal);
    this.#queue = new WorkQueue({ clock: context.world.clock, limiter: new KeyedBackoff(backoff) });
  }

  async run(): Promise<void> {
    const cancelDeadline = this.#context.world.clock.after(firstListDeadlineMs, () => this.#open());
    const opened = new Promise<void>((resolve) => {
      this.#open = resolve;
    });
    const stop = () => {
      this.#queue.close();
      this.#open();
    };
    this.#signal.addEventListener('abort', stop, { once: true });
    if (this.#signal.aborted) stop();
    const discovering = this.#keepDiscovering();
    await opened;
    await Promise.all(Array.from({ length: workers }, () => this.#work()));
    cancelDeadline();
    for (const cancel of this.#discoveries) cancel();
    await discovering;
    await Promise.all(this.#reflecting);
  }

  async #work(): Promise<void> {
    for (let uid = await this.#queue.take(); uid !== undefined; uid = await this.#queue.take()) {
      if ((await this.#examine(uid)) === 'done') {
        this.#unjudged.delete(uid);
        this.#queue.forget(uid);
      } else {
        this.#unjudged.add(uid);
        this.#queue.retry(uid);
      }
      this.#queue.done(uid);
    }
  }

  async #examine(uid: string): Promise<'done' | 'again'> {
    try {
      return await examine(uid, {
        ...this.#context,
        graph: this.#graph,
        absentOwners: this.#absentOwners,
        resourceOf: (group, kind) => this.#kinds.get(`${group}/${kind}`),
        suspect: (uids) => this.#suspect(uids),
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

  #suspect(uids: Suspects): void {
    for (const uid of uids) this.#queue.add(uid);
  }

  async #keepDiscovering(): Promise<void> {
    let failures = 0;
    while (!this.#signal.aborted) {
      failures = (await this.#discover()) ? 0 : failures + 1;
      const { baseMs, capMs } = discoveryBackoff;
      const delayMs = failures === 0 ? discoveryIntervalMs : Math.min(capMs, baseMs * 2 ** Math.min(failures, 10));
      await this.#context.world.clock.sleep(delayMs, this.#signal).catch(() => undefined);
    }
  }

  /** `false` when a part of the server's kinds is not known. */
  async #discover(): Promise<boolean> {
    try {
      const { resources, failed } = await discover(this.#context.client, this.#signal);
      this.#follow(resources, failed);
      return failed.length === 0;
    } catch (error) {
      if (this.#signal.aborted) return true;
      this.#context.log.warn('discovery failed: kinds that are new are not collected yet', { error: String(error) });
      return false;
    }
  }

  /** Starts a watch for each new kind and ends those of kinds that are gone; a group that failed keeps what it had. */
  #follow(resources: readonly ServedResource[], failed: readonly string[]): void {
    const served = new Set(resources.map(versionedName));
    const isGone = (resource: ServedResource) =>
      !served.has(versionedName(resource)) && !failed.some((version) => version.split('/')[0] === resource.group);

    for (const [kind, resource] of this.#kinds) if (isGone(resource)) this.#kinds.delete(kind);
    for (const [name, { resource, stop }] of this.#monitors) {
      if (!isGone(resource)) continue;
      stop.abort();
      this.#monitors.delete(name);
      // Its objects are not known to be gone, just not to be seen: their dependents are looked at, and stay.
      for (const uid of this.#graph.uidsOf(resource)) this.#suspect(this.#graph.remove(uid));
    }
    for (const resource of resources) this.#kinds.set(`${resource.group}/${resource.kind}`, resource);
    for (const resource of resources.filter(isCollectable)) {
      if (!this.#monitors.has(versionedName(resource))) this.#monitor(resource);
    }
    this.#suspect([...this.#unjudged]);
  }

  #monitor(resource: ServedResource): void {
    const { client, world, log } = this.#context;
    const monitor: Monitor = { resource, stop: new AbortController(), isListed: false };
    this.#monitors.set(versionedName(resource), monitor);
    const definitions = { ...customResourceDefinitions, verbs: [] };
    const onEvent = isSameResource(resource, definitions) ? () => this.#discoverSoon() : () => undefined;
    const following = runReflector(
      {
        client,
        world,
        type: resource,
        selection: { metadataOnly: true },
        usesWatchList: false,
        sink: {
          replace: (objects) => {
            const listed = new Set(objects.map(({ metadata }) => metadata.uid));
            const vanished = this.#graph.uidsOf(resource).filter((uid) => !listed.has(uid));
            for (const uid of vanished) this.#suspect(this.#graph.remove(uid));
            for (const { metadata } of objects) this.#suspect(this.#graph.observe(resource, metadata));
            monitor.isListed = true;
            this.#openWhenListed();
            // Definitions in the list may be younger than the discovery that led to it.
            onEvent();
          },
          change: ({ metadata }) => {
            this.#suspect(this.#graph.observe(resource, metadata));
            onEvent();
          },
          remove: ({ metadata }) => {
            this.#suspect(this.#graph.remove(metadata.uid ?? ''));
            onEvent();
          },
          progress: () => undefined,
          problem: (error, restMs) =>
            log.debug('watch failed', { resource: resourceName(resource), restMs, error: String(error) }),
        },
      },
      AbortSignal.any([this.#signal, monitor.stop.signal]),
    ).finally(() => this.#reflecting.delete(following));
    this.#reflecting.add(following);
  }

  /** Before every kind was listed once, a dependent may seem to have none, and an owner seem unseen. */
  #openWhenListed(): void {
    if ([...this.#monitors.values()].every(({ isListed }) => isListed)) this.#open();
  }

  #discoverSoon(): void {
    for (const cancel of this.#discoveries) cancel();
    const { clock } = this.#context.world;
    this.#discoveries = discoveryDelaysMs.map((delayMs) => clock.after(delayMs, () => void this.#discover()));
  }
}

function isCollectable({ verbs, ...resource }: ServedResource): boolean {
  const isWatchable = ['delete', 'list', 'watch'].every((verb) => verbs.includes(verb));
  return isWatchable && !ignoredResources.has(resourceName(resource));
}

function versionedName(resource: ServedResource): string {
  return `${resourceName(resource)}/${resource.version}`;
}
