// Walk 9/10: the pod that the scheduler bound to this node is brought up here: network, volumes, then its containers.
import { isDeepStrictEqual } from 'node:util';
import { type Container, isStatusError, type Pod, pods } from '@castellan/machinery';
import type { Cancel } from '@castellan/world';
import { removeCgroups } from '../sandbox/cgroups.js';
import type { ContainerUser } from '../sandbox/container-process.js';
import type { PodNetwork } from '../sandbox/pod-network.js';
import { containerUser } from './container-launch.js';
import type { ProbeKind } from './container-probes.js';
import type { ContainerRun } from './container-run.js';
import { ContainerStops } from './container-stops.js';
import { PodContainers } from './pod-containers.js';
import type { PodHost } from './pod-host.js';
import { type PodPlan, planPod } from './pod-plan.js';
import { PodProbes, probeTarget } from './pod-probes.js';
import { PodSandbox } from './pod-sandbox.js';
import { podStatus } from './pod-status.js';
import { PodVolumes } from './pod-volumes.js';
import { checkProbe } from './probe-check.js';
import { VolumeError } from './volume-error.js';

/** A container that a command can be run in. */
export interface RunningContainer {
  readonly run: ContainerRun;
  readonly container: Container;
  readonly user?: ContainerUser;
}

const retryMs = 1_000;
const defaultGraceSeconds = 30;

/**
 * Brings one pod nearer to what its object says, one pass at a time: see SPEC.md for its states. A pass is asked for by
 * a change of the object, an exit, a probe, or the time; it never waits for any of them itself.
 */
export class PodWorker {
  readonly uid: string;
  readonly #host: PodHost;
  readonly #sandbox: PodSandbox;
  readonly #containers: PodContainers;
  readonly #volumes: PodVolumes;
  readonly #stops = new ContainerStops(() => this.wake());
  readonly #probes: PodProbes;
  readonly #hasEnded: (worker: PodWorker) => void;
  #pod: Pod;
  #isGone = false;
  #isReleased = false;
  #endSeenAtMs: number | undefined;
  #isClosed = false;
  #isDirty = false;
  #isRunning = false;
  #pass: Promise<void> | undefined;
  #timer: Cancel | undefined;
  #nextMs: number | undefined;

  constructor(host: PodHost, pod: Pod, hasEnded: (worker: PodWorker) => void) {
    this.uid = pod.metadata.uid ?? '';
    this.#host = host;
    this.#pod = pod;
    this.#hasEnded = hasEnded;
    this.#probes = new PodProbes(host);
    this.#sandbox = new PodSandbox(host, this.uid);
    this.#containers = new PodContainers(host, this.uid, this.#sandbox.directory);
    this.#volumes = new PodVolumes(host, this.#sandbox.directory.volumes);
    // What an earlier agent has started is ours from the first moment: its logs can be read, its exit is noticed.
    const network = this.#sandbox.recordedNetwork();
    if (network !== undefined) this.#containers.adopt(network.namespace);
    this.#watchRuns();
  }

  get pod(): Pod {
    return this.#pod;
  }

  /** The log file of a container's newest start, or of the one before. */
  log(container: string, isPrevious: boolean): { readonly path: string; isRunning(): boolean } | undefined {
    const run = isPrevious ? this.#containers.previousRun(container) : this.#containers.run(container);
    return run === undefined ? undefined : { path: run.logPath, isRunning: () => run.isRunning() };
  }

  /** A container's newest start while it runs, and what the manifest says of it. */
  running(name: string): RunningContainer | undefined {
    const run = this.#containers.run(name);
    const container = this.#container(name);
    if (run === undefined || container === undefined || !run.isRunning()) return undefined;
    const user = containerUser(this.#pod, container);
    return { run, container, ...(user === undefined ? {} : { user }) };
  }

  /** While there is one. */
  get network(): PodNetwork | undefined {
    return this.#sandbox.network;
  }

  waitingReason(container: string): string {
    const { containerStatuses = [], initContainerStatuses = [] } = this.#pod.status ?? {};
    const status = [...initContainerStatuses, ...containerStatuses].find(({ name }) => name === container);
    return status?.state?.waiting?.reason ?? 'ContainerCreating';
  }

  /** The object has changed; `undefined` when the API server has none any more: everything ends at once. */
  update(pod: Pod | undefined): void {
    if (pod === undefined) this.#isGone = true;
    else this.#pod = pod;
    this.wake();
  }

  wake(): void {
    if (this.#isClosed) return;
    this.#isDirty = true;
    if (!this.#isRunning) this.#pass = this.#run();
  }

  /** Leaves the pod as it is and works on it no more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timer?.();
    for (const run of this.#containers.all()) this.#probes.unwatch(run);
    await this.#pass;
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#isDirty && !this.#isClosed) {
      this.#isDirty = false;
      this.#timer?.();
      this.#nextMs = undefined;
      try {
        await this.#sync();
      } catch (error) {
        const { namespace, name } = this.#pod.metadata;
        const message = error instanceof Error ? error.message : String(error);
        this.#host.log.warn('pod sync failed', { pod: `${namespace}/${name}`, error: message });
        this.#lookAgainAt(this.#now() + retryMs);
      }
    }
    // With no pause since the last look at #isDirty: a wish for a pass that comes from now on starts a new run.
    this.#isRunning = false;
  }

  async #sync(): Promise<void> {
    if (this.#isGone || this.#pod.metadata.deletionTimestamp !== undefined) return await this.#end();
    if (this.#pod.status?.phase === 'Succeeded' || this.#pod.status?.phase === 'Failed') return await this.#release();
    if (this.#pod.spec?.hostNetwork === true) {
      return await this.#publish(
        this.#plan(),
        'this node does not offer hostNetwork; every pod has a network of its own',
      );
    }
    const { network, problem } = await this.#ensureSandbox();
    if (problem !== undefined) {
      await this.#publish(this.#plan(), problem);
      return this.#lookAgainAt(this.#now() + this.#volumes.nextRetryMs());
    }
    const before = this.#plan();
    for (const name of before.replace) this.#replace(name);
    for (const name of before.start) {
      const container = this.#container(name);
      if (container !== undefined) await this.#containers.start(this.#pod, container, network);
    }
    this.#watchRuns();
    const plan = this.#plan();
    for (const name of plan.backingOff) this.#noteBackoff(name);
    if (plan.outcome !== undefined) for (const run of this.#containers.running()) this.#stop(run);
    await this.#publish(plan);
    this.#lookAgainAt(this.#stops.advance(this.#now()));
    this.#lookAgainAt(plan.lookAgainAtMs);
    this.#lookAgainAt(await this.#volumes.renew(this.#containers.sources(this.#pod, network.address)));
  }

  /** The files of volumes come over the network of the machine, so they are fetched while the pod's own is made. */
  async #ensureSandbox() {
    const volumes = this.#ensureVolumes(this.#sandbox.address(this.#pod));
    const [network, problem] = await Promise.allSettled([this.#sandbox.ensure(this.#pod), volumes]);
    if (network.status === 'rejected') throw network.reason;
    if (problem.status === 'rejected') throw problem.reason;
    return { network: network.value, problem: problem.value };
  }

  /** The pod is to end: ask, wait until the deadline, kill, tell the API server, remove everything. */
  async #end(): Promise<void> {
    for (const run of this.#containers.running()) this.#stop(run, this.#endDeadlineMs());
    const againMs = this.#stops.advance(this.#now());
    if (againMs !== undefined && this.#containers.running().length > 0) return this.#lookAgainAt(againMs);
    if (!this.#isGone) await this.#publish(this.#plan());
    await this.#removeSandbox();
    if (!this.#isGone) await this.#deleteObject();
    this.#sandbox.directory.remove();
    this.#isClosed = true;
    this.#hasEnded(this);
  }

  /** The grace period counts from when we saw it; after a restart of the plane, from what the object says. */
  #endDeadlineMs(): number {
    const { deletionTimestamp = '', deletionGracePeriodSeconds = 0 } = this.#pod.metadata;
    if (this.#isGone || deletionGracePeriodSeconds === 0) return this.#now();
    this.#endSeenAtMs ??= this.#now();
    // deletionTimestamp is cut to whole seconds.
    const writtenMs = Date.parse(deletionTimestamp) + 999;
    return Math.min(this.#endSeenAtMs + deletionGracePeriodSeconds * 1000, writtenMs);
  }

  /** A pod that has run to its end keeps its files (logs) until it is deleted; its network and probes go at once. */
  async #release(): Promise<void> {
    if (this.#isReleased) return;
    if (this.#sandbox.directory.read() === undefined) return;
    for (const run of this.#containers.running()) this.#stop(run);
    const againMs = this.#stops.advance(this.#now());
    if (againMs !== undefined) return this.#lookAgainAt(againMs);
    await this.#removeSandbox();
    this.#isReleased = true;
  }

  async #removeSandbox(): Promise<void> {
    await this.#sandbox.removeNetwork();
    for (const run of this.#containers.all()) {
      this.#probes.unwatch(run);
      removeCgroups(run.record.cgroups);
    }
  }

  async #deleteObject(): Promise<void> {
    const { namespace = '', name = '' } = this.#pod.metadata;
    try {
      await this.#host.client.delete(
        pods,
        { namespace, name },
        {
          gracePeriodSeconds: 0,
          preconditions: { uid: this.uid },
        },
      );
    } catch (error) {
      // Another pod of that name is there already: ours is gone.
      if (!isStatusError(error, 'Conflict', 'NotFound')) throw error;
    }
  }

  async #ensureVolumes(podIp: string): Promise<string | undefined> {
    try {
      await this.#volumes.ensure(this.#containers.sources(this.#pod, podIp));
      return undefined;
    } catch (error) {
      if (!(error instanceof VolumeError)) throw error;
      const message = `MountVolume.SetUp failed: ${error.message}`;
      this.#host.events.record(this.#pod, { type: 'Warning', reason: 'FailedMount', message });
      return message;
    }
  }

  #plan(): PodPlan {
    const spec = this.#pod.spec ?? { containers: [] };
    return planPod(spec, this.#facts(), this.#now());
  }

  #facts() {
    return this.#containers.facts(this.#pod, {
      isStarted: (run) => this.#probes.isStarted(run),
      isReady: (run) => this.#probes.isReady(run) && !this.#stops.isStopping(run),
    });
  }

  /** Each start that runs is watched; each that ended is not. */
  #watchRuns(): void {
    for (const run of this.#containers.all()) {
      if (!run.isRunning()) {
        this.#probes.unwatch(run);
        continue;
      }
      this.#probes.watch(run, this.#target(run), {
        changed: () => this.wake(),
        exited: () => this.wake(),
        failed: (kind, message) => this.#note('Warning', 'Unhealthy', `${kind} probe failed: ${message}`),
        unhealthy: (kind) => this.#restartUnhealthy(run, kind),
      });
    }
  }

  #target(run: ContainerRun) {
    const container = this.#container(run.record.container) ?? { name: run.record.container };
    return probeTarget(run, this.#pod, { container, podIp: this.#sandbox.recordedNetwork()?.address ?? '' });
  }

  #restartUnhealthy(run: ContainerRun, kind: ProbeKind): void {
    const name = run.record.container;
    this.#note('Normal', 'Killing', `Container ${name} failed ${kind.toLowerCase()} probe, will be restarted`);
    this.#stop(run);
    this.wake();
  }

  #replace(name: string): void {
    const run = this.#containers.run(name);
    if (run === undefined || this.#stops.isStopping(run)) return;
    this.#note('Normal', 'Killing', `Container ${name} definition changed, will be restarted`);
    this.#stop(run);
  }

  #stop(run: ContainerRun, deadlineMs = this.#now() + this.#graceMs()): void {
    const name = run.record.container;
    if (!this.#stops.isStopping(run)) this.#note('Normal', 'Killing', `Stopping container ${name}`);
    const hook = this.#container(name)?.lifecycle?.preStop;
    if (hook === undefined || deadlineMs <= this.#now()) {
      this.#stops.stop(run, deadlineMs);
      return;
    }
    this.#stops.stop(run, deadlineMs, async () => {
      if (hook.sleep !== undefined) await this.#host.world.clock.sleep(hook.sleep.seconds * 1000);
      else await checkProbe(hook, this.#target(run), deadlineMs - this.#now());
    });
  }

  #graceMs(): number {
    return (this.#pod.spec?.terminationGracePeriodSeconds ?? defaultGraceSeconds) * 1000;
  }

  async #publish(plan: PodPlan, problem?: string): Promise<void> {
    const status = podStatus({
      pod: this.#pod,
      facts: this.#facts(),
      plan,
      podIp: this.#sandbox.network?.address ?? this.#pod.status?.podIP,
      hostIp: this.#host.network.gateway,
      startedAtMs: this.#sandbox.startedAtMs,
      nowMs: this.#now(),
      ...(problem === undefined ? {} : { problem }),
    });
    const current = this.#pod.status ?? {};
    if (isDeepStrictEqual({ ...current, ...status }, current)) return;
    const { namespace = '', name = '' } = this.#pod.metadata;
    const body = { metadata: { uid: this.uid }, status };
    try {
      const written = await this.#host.client.patch(
        pods,
        { namespace, name },
        { type: 'merge', body },
        {
          subresource: 'status',
        },
      );
      // Only the status: what else changed reaches us by the watch, in order.
      if (this.#pod.metadata.uid === written.metadata.uid && written.status !== undefined) {
        this.#pod = { ...this.#pod, status: written.status };
      }
    } catch (error) {
      // Gone, or another pod of that name: the watch says so in a moment.
      if (!isStatusError(error, 'NotFound', 'Conflict', 'Invalid')) throw error;
    }
  }

  #noteBackoff(name: string): void {
    const key = `${this.#pod.metadata.name}_${this.#pod.metadata.namespace}(${this.uid})`;
    this.#note('Warning', 'BackOff', `Back-off restarting failed container ${name} in pod ${key}`);
  }

  #note(type: 'Normal' | 'Warning', reason: string, message: string): void {
    this.#host.events.record(this.#pod, { type, reason, message });
  }

  #container(name: string): Container | undefined {
    const { initContainers = [], containers = [] } = this.#pod.spec ?? {};
    return [...initContainers, ...containers].find((container) => container.name === name);
  }

  #now(): number {
    return this.#host.world.clock.now();
  }

  /** The earliest of what is asked for within one pass counts. */
  #lookAgainAt(atMs: number | undefined): void {
    if (atMs === undefined || this.#isClosed) return;
    this.#timer?.();
    this.#nextMs = Math.min(this.#nextMs ?? atMs, atMs);
    this.#timer = this.#host.world.clock.after(Math.max(1, this.#nextMs - this.#now()), () => this.wake());
  }
}
