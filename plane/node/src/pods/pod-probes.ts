import type { Container, Pod } from '@castellan/machinery';
import { runInContainer } from '../sandbox/enter-container.js';
import { ContainerProbes, type ProbeListener } from './container-probes.js';
import type { ContainerRun } from './container-run.js';
import type { PodHost } from './pod-host.js';
import type { ProbeTarget } from './probe-target.js';
import { containerUser } from './security-context.js';

/** What is watched of a pod's containers while they run: their exit, their logs, and their probes. */
export class PodProbes {
  readonly #host: PodHost;
  readonly #probes = new Map<string, ContainerProbes>();

  constructor(host: PodHost) {
    this.#host = host;
  }

  /** Its end and its log, from its start. `isLost`: what it runs in is gone, which counts as an end to be looked at. */
  watch(run: ContainerRun, isLost: () => boolean, exited: () => void): void {
    this.#host.exits.watch(run.process.directory, { isOver: () => !run.isRunning() || isLost(), exited });
    this.#host.logs.watch(run.process.directory);
  }

  /** Begins with its probes, unless they have begun. */
  probe(run: ContainerRun, target: ProbeTarget & { readonly pod: Pod }, listener: ProbeListener): void {
    if (this.#probes.has(run.id)) return;
    const probes = new ContainerProbes({
      world: this.#host.world,
      container: target.container,
      target,
      startedAtMs: run.record.startedAtMs,
      initially: lastSeen(target.pod, run),
      listener,
    });
    this.#probes.set(run.id, probes);
  }

  unwatch(run: ContainerRun): void {
    this.#host.exits.unwatch(run.process.directory);
    this.#host.logs.unwatch(run.process.directory);
    this.#probes.get(run.id)?.stop();
    this.#probes.delete(run.id);
  }

  isStarted(run: ContainerRun): boolean {
    return this.#probes.get(run.id)?.isStarted === true;
  }

  isReady(run: ContainerRun): boolean {
    return this.#probes.get(run.id)?.isReady === true;
  }
}

/** How probes and hooks reach a container. */
export function probeTarget(
  run: ContainerRun,
  pod: Pod,
  at: { readonly container: Container; readonly podIp: string },
): ProbeTarget & { readonly pod: Pod } {
  const user = containerUser(pod, at.container, run.record.imageUser);
  return {
    pod,
    ...at,
    execute: (command, deadlineMs, signal) =>
      runInContainer(run.process, {
        command,
        deadlineMs,
        user,
        ...(signal === undefined ? {} : { signal }),
      }),
  };
}

/** What the API server was told of this very run: a plane that restarts does not make it unready. */
function lastSeen(pod: Pod, run: ContainerRun): { readonly isStarted: boolean; readonly isReady: boolean } {
  const known = pod.status?.containerStatuses?.find(({ containerID }) => containerID === `castellan://${run.id}`);
  return { isStarted: known?.started === true, isReady: known?.ready === true };
}
