import type { Client } from '@castellan/client';
import type { KubernetesObject, ObjectKey, ResourceType } from '@castellan/machinery';
import type { World } from '@castellan/world';
import type { CacheIndex } from './cache/cache-index.js';
import type { Decision } from './decision.js';
import type { Change } from './informer/change.js';
import type { Reader } from './reader.js';
import type { ChannelSource } from './source/channel-source.js';

/**
 * A controller is plain data plus functions. The manager gives it informers for `for`, `owns` and `watches`, a queue of
 * keys, and calls `reconcile` with one key at a time per key, `concurrency` keys at once. Nothing is reconciled before
 * the first list of every source was handled.
 */
export interface Controller<T extends KubernetesObject = KubernetesObject> {
  readonly name: string;
  readonly for: ResourceType<T>;
  /** Kinds whose objects name their `for` object as controller in ownerReferences. */
  readonly owns?: readonly ResourceType[];
  readonly watches?: readonly WatchSource[];
  /** What it writes besides the status of `for` objects and what it `owns`: its rights are computed from that. */
  readonly writes?: readonly DeclaredWrite[];
  /** Indexes of what is watched, to read with `cache.byIndex`; see `index`. */
  readonly indexes?: readonly CacheIndex[];
  /** What feeds keys from outside of Kubernetes; see `channelSource`. */
  readonly channels?: readonly ChannelSource[];
  /** Which changes of `for` objects are a reason to reconcile; all by default. */
  when?(change: Change<T>): boolean;
  /**
   * How urgent a key is: added to the priority of whatever asks for it, so that keys of higher priority run first. 0 by
   * default. Asked each time that something asks for the key.
   */
  priority?(key: ObjectKey, cache: Reader): number;
  /** What asks for a key within this time after the first asks for one run together, at its end; 0 by default. */
  readonly debounceMs?: number;
  /** Keys reconciled at once; 1 by default. */
  readonly concurrency?: number;
  /** A reconcile that takes longer is aborted and counted as failed; 60 s by default. */
  readonly deadlineMs?: number;
  /** Brings the world nearer to what the object says. Returns when to look again, or throws (retried with backoff). */
  reconcile(key: ObjectKey, context: ReconcileContext): Promise<ReconcileResult>;
}

export interface DeclaredWrite {
  readonly type: ResourceType;
  /** `status`, `scale`, `eviction`, …; the objects themselves when absent. */
  readonly subresource?: string;
  /** As RBAC has them: `create`, `update`, `patch`, `delete`. */
  readonly verbs: readonly string[];
}

export interface WatchSource<T extends KubernetesObject = KubernetesObject> {
  readonly type: ResourceType<T>;
  /**
   * The keys of `for` objects (of type `ownType`) to reconcile when this object is added, changed or deleted. An update maps
   * the object as it was before as well.
   */
  map(object: T, ownType: ResourceType, change: Change<T>): readonly ObjectKey[];
  /** Which changes count; all by default. `generationChanged`, `labelsChanged` and others are ready, and may be combined. */
  when?(change: Change<T>): boolean;
  /**
   * Keys of higher priority run first, though none waits for ever; 0 by default. What was there when the controller
   * started has 100 less, and runs after what changes now.
   */
  readonly priority?: number;
}

/** Nothing more to do until something changes (`undefined`), or look again after a time; and what was decided, for people. */
export type ReconcileResult =
  | {
      readonly requeueAfterMs?: number;
      readonly decision?: Decision<never>;
      /** Writes of the key's own object that this reconcile knows all about: they do not ask for another. */
      readonly ownChanges?: readonly OwnChange[];
    }
  | undefined;

/** A write that was made of one version of an object and gave the next: nobody else's is between them. Resource versions. */
export interface OwnChange {
  readonly from: string;
  readonly to: string;
}

export interface ReconcileContext {
  readonly client: Client;
  /** Cached reads of every kind that this manager watches. Objects are frozen. */
  readonly cache: Reader;
  readonly world: World;
  /** Aborted at the reconcile's deadline and when the manager stops. */
  readonly signal: AbortSignal;
  readonly log: Log;
  readonly events: EventRecorder;
}

export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

export type LogFields = Readonly<Record<string, unknown>>;

/** Writes Kubernetes Events about an object; never blocks and never throws. Repeats become one object with a growing series. */
export interface EventRecorder {
  record(about: KubernetesObject, event: EventNote): void;
}

export interface EventNote {
  readonly type: 'Normal' | 'Warning';
  /** CamelCase, for machines. */
  readonly reason: string;
  readonly message: string;
  /** What was done or tried, in CamelCase; `Reconcile` by default. */
  readonly action?: string;
}

/** Keeps `WatchSource`s of different kinds in one array while `map` stays typed. */
export function watchSource<T extends KubernetesObject>(source: WatchSource<T>): WatchSource {
  return source as unknown as WatchSource;
}
