import type { Client } from '@castellan/client';
import { type KubernetesObject, type ResourceType, resourceName } from '@castellan/machinery';
import type { World } from '@castellan/world';
import type { Trim } from '../cache/trim.js';
import { compareRevisions } from '../revision.js';
import type { CacheContent } from './cache-content.js';
import { runReflector, type Selection } from './reflector.js';

export type FeedState = 'listing' | 'watching' | 'waiting for the kind';

export interface FeedOptions<T extends KubernetesObject> {
  readonly client: Client;
  readonly world: World;
  readonly type: ResourceType<T>;
  readonly selection: Selection;
  readonly usesWatchList: boolean;
  /** Cut off what comes in, before anything else sees it. */
  readonly trim?: Trim<T>;
  readonly content: CacheContent<T>;
  readonly onProblem: (error: unknown, restMs: number) => void;
  /** `state` or `isSynced` is another. */
  readonly onState: () => void;
}

/** What one reflector brings into a cache: everything, or one namespace of it. */
export class Feed<T extends KubernetesObject> {
  readonly #options: FeedOptions<T>;
  #revision = '0';
  #isSynced = false;
  #state: FeedState = 'listing';

  constructor(options: FeedOptions<T>) {
    this.#options = options;
  }

  get namespace(): string | undefined {
    return this.#options.selection.namespace;
  }

  /** All that the server did up to here was handed over. */
  get revision(): string {
    return this.#revision;
  }

  /** The first list was handed over. */
  get isSynced(): boolean {
    return this.#isSynced;
  }

  get state(): FeedState {
    return this.#state;
  }

  /** Follows the server until `signal` aborts; what it reads first is not older than what is held. */
  async run(signal: AbortSignal): Promise<void> {
    const { client, world, type, selection, usesWatchList, trim, content, onProblem } = this.#options;
    const sink = {
      replace: (objects: readonly T[], revision: string, isNewest: boolean) =>
        this.#replace(objects, revision, isNewest),
      change: (object: T) => content.change(object),
      remove: (object: T) => content.remove(object),
      progress: (revision: string) => {
        if (isNewer(revision, this.#revision)) this.#revision = revision;
        content.passed(this.namespace, revision);
      },
      gone: () => content.clear(this.namespace),
      state: (state: FeedState) => {
        this.#state = state;
        this.#options.onState();
      },
      problem: onProblem,
    };
    const from = { since: this.#revision, ...(trim === undefined ? {} : { trim }) };
    await runReflector({ client, world, type, selection, usesWatchList, sink, ...from }, signal);
  }

  #replace(objects: readonly T[], revision: string, isNewest: boolean): void {
    const { content, onProblem, type } = this.#options;
    // The newest can be older than what was seen only when the server's storage was put back to an earlier state.
    const isReset = isNewest && isNewer(this.#revision, revision);
    if (isReset) {
      const what = `${resourceName(type)}: the server is at revision ${revision} and was at ${this.#revision}`;
      onProblem(new Error(`${what}: its storage was restored; everything is read anew`), 0);
    }
    content.replace(this.namespace, objects, revision, isReset);
    if (isReset || isNewer(revision, this.#revision)) this.#revision = revision;
    this.#isSynced = true;
  }
}

function isNewer(a: string, b: string): boolean {
  return (compareRevisions(a, b) ?? 1) > 0;
}
