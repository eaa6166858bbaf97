import type { Pod } from '@castellan/machinery';
import type { ContainerRun } from './container-run.js';
import { ContainerStops } from './container-stops.js';
import type { PodHost } from './pod-host.js';
import { containerOf } from './pod-spec.js';
import { checkProbe, type ProbeTarget } from './probe-check.js';

export interface StopWish {
  readonly pod: Pod;
  /** How the preStop hook reaches the container. */
  readonly target: ProbeTarget;
  /** For the event. */
  readonly message?: string;
  /** When it is killed; the pod's grace period from now by default. */
  readonly deadlineMs?: number;
}

const defaultGraceSeconds = 30;

/** Ends containers of one pod, by the pod's rules: preStop hooks, grace periods, and an event for each. */
export class PodStops {
  readonly #host: PodHost;
  readonly #stops: ContainerStops;
  #deletionSeenAtMs: number | undefined;

  /** `wake`: a hook has ended, and `advance` is due. */
  constructor(host: PodHost, wake: () => void) {
    this.#host = host;
    this.#stops = new ContainerStops(wake);
  }

  stop(run: ContainerRun, wish: StopWish): void {
    const { pod, target } = wish;
    const name = run.record.container;
    const deadlineMs = wish.deadlineMs ?? this.#now() + graceMs(pod);
    if (!this.isStopping(run)) {
      const message = wish.message ?? `Stopping container ${name}`;
      this.#host.events.record(pod, { type: 'Normal', reason: 'Killing', message });
    }
    const hook = containerOf(pod, name)?.lifecycle?.preStop;
    if (hook === undefined || deadlineMs <= this.#now()) {
      this.#stops.stop(run, deadlineMs);
      return;
    }
    this.#stops.stop(run, deadlineMs, async () => {
      if (hook.sleep !== undefined) await this.#host.world.clock.sleep(hook.sleep.seconds * 1000);
      else await checkProbe(hook, target, deadlineMs - this.#now());
    });
  }

  isStopping(run: ContainerRun): boolean {
    return this.#stops.isStopping(run);
  }

  /** Does what is due; the result is when to come again, and `undefined` when nothing is left to be ended. */
  advance(): number | undefined {
    return this.#stops.advance(this.#now());
  }

  /** The grace period counts from when we saw the deletion; after a restart of the plane, from what the object says. */
  deletionDeadlineMs(pod: Pod): number {
    const { deletionTimestamp = '', deletionGracePeriodSeconds = 0 } = pod.metadata;
    if (deletionGracePeriodSeconds === 0) return this.#now();
    this.#deletionSeenAtMs ??= this.#now();
    // deletionTimestamp is cut to whole seconds.
    const writtenMs = Date.parse(deletionTimestamp) + 999;
    return Math.min(this.#deletionSeenAtMs + deletionGracePeriodSeconds * 1000, writtenMs);
  }

  #now(): number {
    return this.#host.world.clock.now();
  }
}

function graceMs({ spec }: Pod): number {
  return (spec?.terminationGracePeriodSeconds ?? defaultGraceSeconds) * 1000;
}
