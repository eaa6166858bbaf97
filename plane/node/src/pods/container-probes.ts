import type { Container, Probe } from '@castellan/machinery';
import type { Cancel, World } from '@castellan/world';
import { checkProbe } from './probe-check.js';
import type { ProbeTarget } from './probe-target.js';

export interface ProbeListener {
  /** Readiness or startup changed. */
  changed(): void;
  /** A probe failed; for an event. */
  failed(kind: ProbeKind, message: string): void;
  /** Liveness or startup failed as often as allowed: the container is to be ended, with the probe's own grace period if any. */
  unhealthy(kind: ProbeKind, graceSeconds: number | undefined): void;
}

export type ProbeKind = 'Startup' | 'Readiness' | 'Liveness';

export interface ProbeStart {
  readonly world: World;
  readonly container: Container;
  readonly target: ProbeTarget;
  readonly listener: ProbeListener;
  /** Of the container, milliseconds since the epoch: initial delays count from it. */
  readonly startedAtMs: number;
  /** Known from before the plane's restart; a container that was ready stays so until a probe says otherwise. */
  readonly initially: { readonly isStarted: boolean; readonly isReady: boolean };
}

/**
 * Right after a start we look more often than the period says, until the first success: a member that is up after
 * 200 ms is not kept out of its service for a whole period. These looks do not count as failures.
 */
const earlyLooksMs = [100, 200, 400, 800, 1_600];

/** Runs the probes of one start of a container. Kubernetes' rules: liveness and readiness wait for startup. */
export class ContainerProbes {
  readonly #start: ProbeStart;
  readonly #loops: ProbeLoop[] = [];
  #isStarted: boolean;
  #isReady: boolean;
  #isStopped = false;

  constructor(start: ProbeStart) {
    this.#start = start;
    const { startupProbe, readinessProbe } = start.container;
    this.#isStarted = startupProbe === undefined || start.initially.isStarted;
    this.#isReady = readinessProbe === undefined || start.initially.isReady;
    if (startupProbe !== undefined && !this.#isStarted) this.#runStartup(startupProbe);
    else this.#runOthers();
  }

  get isStarted(): boolean {
    return this.#isStarted;
  }

  get isReady(): boolean {
    return this.#isStarted && this.#isReady;
  }

  stop(): void {
    this.#isStopped = true;
    for (const loop of this.#loops) loop.stop();
  }

  #runStartup(probe: Probe): void {
    const { listener } = this.#start;
    const loop = this.#loop(probe, 'Startup', {
      looksEarly: true,
      changed: (isSuccess) => {
        loop.stop();
        if (!isSuccess) return listener.unhealthy('Startup', probe.terminationGracePeriodSeconds);
        this.#isStarted = true;
        listener.changed();
        this.#runOthers();
      },
    });
  }

  #runOthers(): void {
    if (this.#isStopped) return;
    const { listener, container } = this.#start;
    if (container.readinessProbe !== undefined) {
      this.#loop(container.readinessProbe, 'Readiness', {
        looksEarly: !this.#isReady,
        changed: (isSuccess) => {
          if (this.#isReady === isSuccess) return;
          this.#isReady = isSuccess;
          listener.changed();
        },
      });
    }
    const { livenessProbe } = container;
    if (livenessProbe !== undefined) {
      const loop = this.#loop(livenessProbe, 'Liveness', {
        looksEarly: false,
        changed: (isSuccess) => {
          if (isSuccess) return;
          loop.stop();
          listener.unhealthy('Liveness', livenessProbe.terminationGracePeriodSeconds);
        },
      });
    }
  }

  #loop(probe: Probe, kind: ProbeKind, behaviour: LoopBehaviour): ProbeLoop {
    const { world, target, listener, startedAtMs } = this.#start;
    const loop = new ProbeLoop({
      world,
      startedAtMs,
      probe,
      target,
      behaviour,
      failed: (message) => listener.failed(kind, message),
    });
    this.#loops.push(loop);
    return loop;
  }
}

interface LoopBehaviour {
  readonly looksEarly: boolean;
  /** Called when as many looks as the threshold says agree, and again for each further one. */
  changed(isSuccess: boolean): void;
}

interface LoopOptions {
  readonly world: World;
  readonly startedAtMs: number;
  readonly probe: Probe;
  readonly target: ProbeTarget;
  readonly behaviour: LoopBehaviour;
  failed(message: string): void;
}

class ProbeLoop {
  readonly #options: LoopOptions;
  #early: readonly number[];
  #successes = 0;
  #failures = 0;
  #cancel: Cancel | undefined;
  #isStopped = false;

  constructor(options: LoopOptions) {
    this.#options = options;
    const periodMs = seconds(options.probe.periodSeconds, 10);
    this.#early = options.behaviour.looksEarly ? earlyLooksMs.filter((ms) => ms < periodMs) : [];
    const sinceStartMs = options.world.clock.now() - options.startedAtMs;
    const delayMs = Math.max(0, seconds(options.probe.initialDelaySeconds, 0) - sinceStartMs);
    this.#again(delayMs + (this.#early[0] ?? 0));
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancel?.();
  }

  #again(delayMs: number): void {
    if (this.#isStopped) return;
    this.#cancel = this.#options.world.clock.after(delayMs, () => void this.#look());
  }

  async #look(): Promise<void> {
    const { probe, target, behaviour, failed } = this.#options;
    const { isSuccess, message } = await checkProbe(probe, target, seconds(probe.timeoutSeconds, 1));
    if (this.#isStopped) return;
    this.#early = this.#early.slice(1);
    const nextEarlyMs = this.#early[0];
    if (!isSuccess && nextEarlyMs !== undefined) return this.#again(nextEarlyMs);
    this.#early = [];
    if (isSuccess) {
      this.#failures = 0;
      this.#successes += 1;
      if (this.#successes >= (probe.successThreshold ?? 1)) behaviour.changed(true);
    } else {
      this.#successes = 0;
      this.#failures += 1;
      failed(message);
      if (this.#failures >= (probe.failureThreshold ?? 3)) behaviour.changed(false);
    }
    this.#again(seconds(probe.periodSeconds, 10));
  }
}

function seconds(value: number | undefined, otherwise: number): number {
  return (value ?? otherwise) * 1000;
}
