import { formatKey, keyOf, type Pod, StatusError } from '@castellan/machinery';
import type { ReconcileContext } from '@castellan/runtime';
import { bind } from './bind.js';
import type { ClusterView } from './cluster/cluster-view.js';
import type { Refusal, Scene, SchedulerPlugin } from './plugin.js';

/** Upstream's bindTimeoutSeconds: what is not ready by then is placed anew. */
const longestWaitMs = 600_000;

export type PlacementState =
  | { readonly kind: 'ended' }
  /** `plugin` waits for others. */
  | { readonly kind: 'waiting'; readonly plugin: string }
  /** A plugin found that the node will not do after all. */
  | { readonly kind: 'refused'; readonly plugin: string; readonly refusal: Refusal };

/**
 * A pod on its way to the node that was chosen for it. From the start it has its room there; `carryOn` does the rest, as often as
 * it takes; `abandon` takes everything back.
 */
export class Placement {
  readonly pod: Pod;
  readonly nodeName: string;
  readonly #view: ClusterView;
  readonly #plugins: readonly SchedulerPlugin[];
  readonly #undo: (() => void)[] = [];
  readonly #deadlineMs: number;

  constructor(pod: Pod, nodeName: string, options: PlacementOptions) {
    this.pod = pod;
    this.nodeName = nodeName;
    this.#view = options.view;
    this.#plugins = options.plugins;
    this.#deadlineMs = options.nowMs + longestWaitMs;
    this.#view.assume(pod, nodeName);
    for (const { reserve } of options.plugins) {
      const undo = reserve?.(pod, nodeName, options.scene);
      if (undo !== undefined) this.#undo.push(undo);
    }
  }

  /** Whether it is of this pod, and may still be carried on. */
  isValidFor(pod: Pod, nowMs: number): boolean {
    const isThere = this.#view.node(this.nodeName) !== undefined;
    return pod.metadata.uid === this.pod.metadata.uid && isThere && nowMs < this.#deadlineMs;
  }

  /** Throws when it is not known what became of a write: the same is to be tried again. */
  async carryOn(context: ReconcileContext): Promise<PlacementState> {
    const { pod, nodeName } = this;
    try {
      for (const { name, preBind } of this.#plugins) {
        const begun = preBind?.(pod, nodeName, context);
        if (begun === undefined) continue;
        const result = await begun;
        if (result === 'waiting') return { kind: 'waiting', plugin: name };
        if (result !== 'ready') {
          this.abandon();
          return { kind: 'refused', plugin: name, refusal: result };
        }
      }
      await this.#bind(context);
      return { kind: 'ended' };
    } catch (error) {
      if (isRefusal(error)) this.abandon();
      throw error;
    }
  }

  abandon(): void {
    for (const undo of this.#undo.splice(0).reverse()) undo();
    this.#view.forget(this.pod);
  }

  async #bind({ client, signal, events }: ReconcileContext): Promise<void> {
    const { pod, nodeName } = this;
    const outcome = await bind(pod, nodeName, client, signal);
    if (outcome === 'gone') this.abandon();
    // One that is taken keeps its room until the cache shows where it is: it may be here.
    if (outcome !== 'bound') return;
    const message = `Successfully assigned ${formatKey(keyOf(pod))} to ${nodeName}`;
    events.record(pod, { type: 'Normal', reason: 'Scheduled', action: 'Binding', message });
  }
}

export interface PlacementOptions {
  readonly view: ClusterView;
  readonly plugins: readonly SchedulerPlugin[];
  readonly scene: Scene;
  readonly nowMs: number;
}

/** The server said no, and nothing was written. */
function isRefusal(error: unknown): boolean {
  return error instanceof StatusError && error.code < 500 && error.code !== 429;
}
