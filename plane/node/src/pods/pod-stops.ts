import type { Pod } from '@castellan/machinery';
import type { ContainerRun } from './container-run.js';
import { ContainerStops } from './container-stops.js';
import { type HookPlace, runHook } from './lifecycle-hook.js';
import type { PodHost } from './pod-host.js';
import { containerOf } from './pod-spec.js';
import type { ProbeTarget } from './probe-target.js';
import { isSidecar } from './restart-policy.js';

export interface StopWish {
  readonly pod: Pod;
  /** How the preStop hook reaches the container. */
  readonly target: ProbeTarget;
  /** It ends with the whole pod, so sidecars wait for what they serve; `running` are those that have not ended. */
  readonly withPod?: () => readonly ContainerRun[];
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
    const container = containerOf(pod, name);
    const hook = container?.lifecycle?.preStop;
    const { withPod } = wish;
    this.#stops.stop(run, this.#now(), {
      deadlineMs,
      ...(hook === undefined || container === undefined
        ? {}
        : { preStop: (signal) => this.#preStop(hook, { world: this.#host.world, pod, container, target }, signal) }),
      mayBeAsked: () => !this.#isServed(pod) && (withPod === undefined || mayEnd(pod, name, withPod())),
    });
  }

  async #preStop(hook: Parameters<typeof runHook>[0], place: HookPlace, signal: AbortSignal): Promise<void> {
    try {
      await runHook(hook, place, signal);
    } catch (error) {
      const { pod, container } = place;
      this.#host.events.record(pod, { type: 'Warning', reason: 'FailedPreStopHook', message: 'PreStopHook failed' });
      // Not in the event, for what a hook prints may be secret.
      this.#host.log.warn('preStop hook failed', {
        pod: pod.metadata.name,
        container: container.name,
        error: String(error),
      });
    }
  }

  /** Until its services have let go of it, a pod that is deleted goes on: nobody is to come to a closed door. */
  #isServed({ metadata, status }: Pod): boolean {
    if (metadata.deletionTimestamp === undefined || status?.podIP === undefined) return false;
    return this.#host.isServed(metadata.namespace ?? '', status.podIP);
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

/** Sidecars end after the main containers, the last that was started first. */
function mayEnd(pod: Pod, name: string, running: readonly ContainerRun[]): boolean {
  const { initContainers = [], containers = [] } = pod.spec ?? {};
  const sidecars = initContainers.filter(isSidecar).map((container) => container.name);
  const place = sidecars.indexOf(name);
  if (place < 0) return true;
  const served = new Set([...containers.map((container) => container.name), ...sidecars.slice(place + 1)]);
  return !running.some(({ record }) => served.has(record.container));
}

function graceMs({ spec }: Pod): number {
  return (spec?.terminationGracePeriodSeconds ?? defaultGraceSeconds) * 1000;
}
