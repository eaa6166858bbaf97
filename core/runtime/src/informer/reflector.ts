import type { Client, ListOptions, WatchEvent, WatchOptions } from '@castellan/client';
import { type KubernetesObject, type ResourceType, resourceName } from '@castellan/machinery';
import type { World } from '@castellan/world';
import type { Trim } from '../cache/trim.js';
import { reflectorFailureOf } from './reflector-failure.js';
import {
  firstState,
  type Happening,
  isKindGone,
  nextState,
  type ReflectorActivity,
  type ReflectorState,
} from './reflector-state.js';

/** Which objects of a type are followed. */
export interface Selection {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Asks for PartialObjectMetadata: names, owners and labels without what the objects hold. */
  readonly metadataOnly?: boolean;
}

/** Where a reflector puts what it reads. Calls come in the order of the server's revisions and must not throw. */
export interface ReflectorSink<T extends KubernetesObject> {
  /** The whole collection as of `revision`; with `isNewest` the server had nothing newer than that. */
  replace(objects: readonly T[], revision: string, isNewest: boolean): void;
  change(object: T): void;
  remove(object: T): void;
  /** Everything up to `revision` was handed over. */
  progress(revision: string): void;
  /** The server has not known the kind for a while: there are no objects of it. */
  gone?(): void;
  state?(state: 'listing' | 'watching' | 'waiting for the kind'): void;
  /** Something went wrong and will be tried again, or an event was left out because it is malformed. */
  problem(error: unknown, restMs: number): void;
}

export interface ReflectorOptions<T extends KubernetesObject> {
  readonly client: Client;
  readonly world: World;
  readonly type: ResourceType<T>;
  readonly selection: Selection;
  readonly sink: ReflectorSink<T>;
  readonly usesWatchList: boolean;
  /** Done to each object before it is kept or handed over. */
  readonly trim?: Trim<T>;
  /** What is read first is not older than this; '0' when nothing is held. */
  readonly since?: string;
}

const pageSize = 500;
/** The server ends a watch after 5 to 10 minutes, at random so that not all watches of a process begin at once. */
const watchSeconds = { least: 300, span: 300 };
/** A server that ignores `sendInitialEvents` sends objects and never the bookmark that completes them. */
const initialEventsDeadlineMs = 30_000;

/** Follows one collection until `signal` aborts: carries out what `nextState` says and tells it what happened. */
export async function runReflector<T extends KubernetesObject>(
  options: ReflectorOptions<T>,
  signal: AbortSignal,
): Promise<void> {
  const reflector = new Reflector(options, signal);
  while (!signal.aborted) await reflector.step();
}

class Reflector<T extends KubernetesObject> {
  readonly #options: ReflectorOptions<T>;
  readonly #signal: AbortSignal;
  #state: ReflectorState;
  #pages: T[] = [];
  #isGoneTold = false;

  constructor(options: ReflectorOptions<T>, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
    this.#state = firstState(options.usesWatchList, options.since ?? '0');
  }

  async step(): Promise<void> {
    const { doing, restMs, missingSinceMs } = this.#state;
    this.#tellState();
    try {
      if (restMs > 0) await this.#options.world.clock.sleep(restMs, this.#signal);
      if (doing.kind === 'listing') await this.#list(doing);
      else await this.#watch(doing);
    } catch (error) {
      if (this.#signal.aborted) return;
      this.#happens({ kind: 'failed', failure: reflectorFailureOf(error) });
      // That a kind is missing is said once, however often it is looked for.
      if (missingSinceMs === undefined || this.#state.missingSinceMs === undefined) {
        this.#options.sink.problem(error, this.#state.restMs);
      }
    }
  }

  #tellState(): void {
    const { sink, world } = this.#options;
    const { doing, missingSinceMs } = this.#state;
    if (missingSinceMs !== undefined) sink.state?.('waiting for the kind');
    else sink.state?.(doing.kind === 'watching' ? 'watching' : 'listing');
    const isGone = isKindGone(this.#state, world.clock.monotonicNow());
    if (isGone && !this.#isGoneTold) sink.gone?.();
    this.#isGoneTold = isGone;
  }

  #trimmed(object: T): T {
    return this.#options.trim?.(object) ?? object;
  }

  async #list(listing: Extract<ReflectorActivity, { kind: 'listing' }>): Promise<void> {
    const { client, type, sink, selection } = this.#options;
    const { revision, continueToken, isWhole } = listing;
    if (continueToken === undefined) this.#pages = [];
    // A server's watch cache answers lists that name a revision, and takes no limit; storage is read in pages.
    const isPaged = revision === '' && isWhole !== true;
    const query: ListOptions = {
      ...selection,
      signal: this.#signal,
      ...(isPaged || continueToken !== undefined ? { limit: pageSize } : {}),
      ...(continueToken === undefined ? { resourceVersion: revision } : { continue: continueToken }),
    };
    const list = await client.list(type, query);
    for (const item of list.items) this.#pages.push(this.#trimmed(item));
    const { resourceVersion = '', continue: token } = list.metadata;
    if (token === undefined || token === '') {
      sink.replace(this.#pages, resourceVersion, revision === '');
      this.#pages = [];
      this.#happens({ kind: 'page', revision: resourceVersion });
    } else {
      this.#happens({ kind: 'page', revision: resourceVersion, continueToken: token });
    }
  }

  async #watch(doing: Exclude<ReflectorActivity, { kind: 'listing' }>): Promise<void> {
    const { client, type, selection, world } = this.#options;
    const { clock, random } = world;
    const startedMs = clock.monotonicNow();
    const stop = new AbortController();
    const onAbort = (): void => stop.abort(this.#signal.reason);
    this.#signal.addEventListener('abort', onAbort, { once: true });
    const request: WatchOptions = {
      ...selection,
      allowWatchBookmarks: true,
      timeoutSeconds: watchSeconds.least + Math.floor(random.next() * watchSeconds.span),
      signal: stop.signal,
      ...(doing.kind === 'watching'
        ? { resourceVersion: doing.revision }
        : { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' }),
    };
    let hadEvents = false;
    let isCutOff = false;
    const initial = doing.kind === 'streaming' ? new Map<string, T>() : undefined;
    const cancelDeadline =
      initial === undefined
        ? undefined
        : clock.after(initialEventsDeadlineMs, () => {
            isCutOff = this.#state.doing.kind === 'streaming';
            if (isCutOff) stop.abort(new Error('the initial events did not end'));
          });
    try {
      for await (const event of client.watch(type, request)) {
        hadEvents = true;
        this.#receive(event, initial);
      }
      this.#happens({ kind: 'ended', lastedMs: clock.monotonicNow() - startedMs, hadEvents });
    } catch (error) {
      if (!isCutOff) throw error;
      this.#happens({ kind: 'failed', failure: 'notSupported' });
      this.#options.sink.problem(error, this.#state.restMs);
    } finally {
      cancelDeadline?.();
      this.#signal.removeEventListener('abort', onAbort);
    }
  }

  #receive(event: WatchEvent<T>, initial: Map<string, T> | undefined): void {
    const { sink } = this.#options;
    const revision = event.object.metadata.resourceVersion;
    const problem = problemOf(event, this.#options.type);
    if (problem !== undefined || revision === undefined) {
      sink.problem(new Error(problem ?? 'a watch event without a resourceVersion was left out'), 0);
      return;
    }
    if (this.#state.doing.kind === 'streaming' && initial !== undefined) {
      if (event.type === 'BOOKMARK') {
        if (event.object.metadata.annotations?.['k8s.io/initial-events-end'] !== 'true') return;
        sink.replace([...initial.values()], revision, true);
        initial.clear();
        this.#happens({ kind: 'complete', revision });
        this.#tellState();
        return;
      }
      const key = `${event.object.metadata.namespace ?? ''}/${event.object.metadata.name}`;
      if (event.type === 'DELETED') initial.delete(key);
      else initial.set(key, this.#trimmed(event.object));
      return;
    }
    if (event.type === 'DELETED') sink.remove(this.#trimmed(event.object));
    else if (event.type !== 'BOOKMARK') sink.change(this.#trimmed(event.object));
    sink.progress(revision);
    this.#happens({ kind: 'progress', revision });
  }

  #happens(happening: Happening): void {
    const { clock, random } = this.#options.world;
    this.#state = nextState(this.#state, happening, { nowMs: clock.monotonicNow(), chance: random.next() });
  }
}

function problemOf<T extends KubernetesObject>(event: WatchEvent<T>, type: ResourceType<T>): string | undefined {
  const { kind, metadata } = event.object;
  if (kind !== undefined && kind !== type.kind && kind !== 'PartialObjectMetadata') {
    return `a ${kind} in the watch of ${resourceName(type)} was left out`;
  }
  if (event.type !== 'BOOKMARK' && metadata.name === undefined) {
    return `an object without a name in the watch of ${resourceName(type)} was left out`;
  }
  return undefined;
}
