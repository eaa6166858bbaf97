import {
  formatKey,
  type KubernetesObject,
  keyOf,
  type ObjectKey,
  type Pod,
  type ResourceType,
} from '@castellan/machinery';
import type { Change } from '@castellan/runtime';
import type { Hint, SchedulerPlugin } from './plugin.js';

/** As upstream: a pod that failed again and again is not tried more often than this. */
const firstRestMs = 1_000;
const longestRestMs = 10_000;

interface Waiting {
  readonly pod: Pod;
  /** Names of plugins. */
  readonly refusedBy: ReadonlySet<string>;
  readonly failures: number;
  readonly failedAtMs: number;
}

/** Pods that no node would do for, with what might change that. */
export class WaitingPods {
  readonly #waiting = new Map<string, Waiting>();
  readonly #hints: readonly { readonly plugin: string; readonly hint: Hint }[];

  constructor(plugins: readonly SchedulerPlugin[]) {
    this.#hints = plugins.flatMap(({ name, hints = [] }) => hints.map((each) => ({ plugin: name, hint: each })));
  }

  /** Kinds whose changes may help. */
  get types(): readonly ResourceType[] {
    return [...new Set(this.#hints.map(({ hint }) => hint.type))];
  }

  has(key: string): boolean {
    return this.#waiting.has(key);
  }

  /** A try failed, since these plugins refused nodes. */
  failed(pod: Pod, refusedBy: ReadonlySet<string>, nowMs: number): void {
    const failures = (this.#waiting.get(formatKey(keyOf(pod)))?.failures ?? 0) + 1;
    this.#waiting.set(formatKey(keyOf(pod)), { pod, refusedBy, failures, failedAtMs: nowMs });
  }

  /** It has a node, and this plugin waits for something before the pod may be bound. */
  waitsFor(pod: Pod, plugin: string): void {
    const key = formatKey(keyOf(pod));
    const { failures = 0, failedAtMs = 0 } = this.#waiting.get(key) ?? {};
    this.#waiting.set(key, { pod, refusedBy: new Set([plugin]), failures, failedAtMs });
  }

  leave(key: string): void {
    this.#waiting.delete(key);
  }

  /** How long a pod still has to rest. The first change that may help is followed at once; then 1, 2, 4, 8, 10 s are between tries. */
  restMs(key: string, nowMs: number): number {
    const { failures = 0, failedAtMs = 0 } = this.#waiting.get(key) ?? {};
    if (failures < 2) return 0;
    const restMs = Math.min(longestRestMs, firstRestMs * 2 ** (failures - 2));
    return Math.max(0, failedAtMs + restMs - nowMs);
  }

  /** The pods that this change of an object of `type` may help. */
  helpedBy(type: ResourceType, change: Change<KubernetesObject>): readonly ObjectKey[] {
    if (this.#waiting.size === 0) return [];
    const hints = this.#hints.filter(({ hint }) => hint.type === type);
    const helped: ObjectKey[] = [];
    for (const { pod, refusedBy } of this.#waiting.values()) {
      if (hints.some(({ plugin, hint }) => refusedBy.has(plugin) && hint.mayHelp(pod, change))) helped.push(keyOf(pod));
    }
    return helped;
  }
}
