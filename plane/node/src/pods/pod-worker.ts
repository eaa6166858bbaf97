// Walk 9/10: the pod that the scheduler bound to this node is brought up here: network, volumes, then its containers.
import { isDeepStrictEqual } from 'node:util';
import type { Container, Pod } from '@castellan/machinery';
import type { ContainerUser } from '../sandbox/container-user.js';
import type { PodNetwork } from '../sandbox/pod-network.js';
import type { ProbeKind } from './container-probes.js';
import type { ContainerRun } from './container-run.js';
import { PassLoop } from './pass-loop.js';
import { PodContainers } from './pod-containers.js';
import { PodFailures } from './pod-failures.js';
import type { PodHost } from './pod-host.js';
import { deleteObject, publishStatus } from './pod-object.js';
import { failedPlan, type PodPlan, planPod } from './pod-plan.js';
import { PodProbes, probeTarget } from './pod-probes.js';
import { PodResizes } from './pod-resizes.js';
import { PodSandbox, removePodGroups } from './pod-sandbox.js';
import { containerOf } from './pod-spec.js';
import { podStatus } from './pod-status.js';
import { PodStops, type StopWish } from './pod-stops.js';
import { PodVolumes } from './pod-volumes.js';
import { PostStartHooks } from './post-start-hooks.js';
import { containerUser, podRefusal } from './security-context.js';
import { sharedProcesses } from './shared-processes.js';
import { VolumeError } from './volume-error.js';
import { refersTo } from './volume-references.js';

/** A container that a command can be run in. */
export interface RunningContainer {
  readonly run: ContainerRun;
  readonly container: Container;
  readonly user: ContainerUser;
}

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
  readonly #stops: PodStops;
  readonly #failures: PodFailures;
  readonly #resizes: PodResizes;
  readonly #probes: PodProbes;
  readonly #postStarts = new PostStartHooks();
  readonly #passes: PassLoop;
  readonly #hasEnded: (worker: PodWorker) => void;
  #pod: Pod;
  #isGone = false;
  #isReleased = false;
  #isRefused = false;

  constructor(host: PodHost, pod: Pod, hasEnded: (worker: PodWorker) => void) {
    this.uid = pod.metadata.uid ?? '';
    this.#host = host;
    this.#pod = pod;
    this.#hasEnded = hasEnded;
    this.#passes = new PassLoop({
      world: host.world,
      pass: () => this.#sync(),
      failed: (error) => {
        const { namespace, name } = this.#pod.metadata;
        const message = error instanceof Error ? error.message : String(error);
        host.log.warn('pod sync failed', { pod: `${namespace}/${name}`, error: message });
      },
    });
    this.#stops = new PodStops(host, () => this.wake());
    this.#probes = new PodProbes(host);
    this.#sandbox = new PodSandbox(host, this.uid);
    this.#containers = new PodContainers(host, this.uid, this.#sandbox.directory);
    this.#failures = new PodFailures(host, this.#sandbox.directory);
    this.#resizes = new PodResizes(host, this.#sandbox.directory);
    this.#volumes = new PodVolumes(host, this.#sandbox.directory.volumes);
    // What an earlier agent has started is ours from the first moment: its logs can be read, its exit is noticed.
    const network = this.#sandbox.recordedNetwork();
    if (network !== undefined) this.#containers.adopt(network.namespace);
    this.#watchRuns();
  }

  get pod(): Pod {
    return this.#pod;
  }

  /** Where the log is of a container's newest start, or of the one before. */
  log(container: string, isPrevious: boolean): { readonly directory: string; isRunning(): boolean } | undefined {
    const run = isPrevious ? this.#containers.previousRun(container) : this.#containers.run(container);
    return run === undefined ? undefined : { directory: run.process.directory, isRunning: () => run.isRunning() };
  }

  /** A container's newest start while it runs, and what the manifest says of it. */
  running(name: string): RunningContainer | undefined {
    const run = this.#containers.run(name);
    const container = containerOf(this.#pod, name);
    if (run === undefined || container === undefined || !run.isRunning()) return undefined;
    return { run, container, user: containerUser(this.#pod, container, run.record.imageUser) };
  }

  /** The newest starts of all its containers that run. */
  runs(): readonly ContainerRun[] {
    return this.#containers.running();
  }

  /** While there is one. */
  get network(): PodNetwork | undefined {
    return this.#sandbox.network;
  }

  waitingReason(container: string): string {
    const {
      containerStatuses = [],
      initContainerStatuses = [],
      ephemeralContainerStatuses = [],
    } = this.#pod.status ?? {};
    const all = [...initContainerStatuses, ...containerStatuses, ...ephemeralContainerStatuses];
    const status = all.find(({ name }) => name === container);
    return status?.state?.waiting?.reason ?? 'ContainerCreating';
  }

  /** The object has changed; `undefined` when the API server has none any more: everything ends at once. */
  update(pod: Pod | undefined): void {
    if (pod === undefined) this.#isGone = true;
    else {
      // Files of volumes may show them.
      const { labels, annotations } = this.#pod.metadata;
      if (!isDeepStrictEqual([labels, annotations], [pod.metadata.labels, pod.metadata.annotations]))
        this.#volumes.expire();
      this.#pod = pod;
    }
    this.wake();
  }

  /** A ConfigMap or Secret has changed, or come, or gone. */
  sourceChanged(kind: 'ConfigMap' | 'Secret', name: string): void {
    if (!refersTo(this.#pod, kind, name)) return;
    this.#volumes.expire();
    this.wake();
  }

  wake(): void {
    this.#passes.wake();
  }

  /** Leaves the pod as it is and works on it no more. */
  async close(): Promise<void> {
    this.#passes.close();
    for (const run of this.#containers.all()) this.#unwatch(run);
    await this.#passes.settled();
  }

  async #sync(): Promise<void> {
    if (this.#isGone || this.#pod.metadata.deletionTimestamp !== undefined) return await this.#end();
    if (this.#pod.status?.phase === 'Succeeded' || this.#pod.status?.phase === 'Failed') return await this.#release();
    const refusal = podRefusal(this.#pod);
    if (refusal !== undefined) return await this.#refuse(refusal);
    if (this.#plan().outcome === undefined) {
      this.#passes.wakeAt(await this.#failures.check(this.#pod, this.#sandbox.startedAtMs));
    }
    if (this.#failures.failure !== undefined) return await this.#endFailed();
    this.#abandonLostSandbox();
    const { network, problem } = await this.#ensureSandbox();
    if (problem !== undefined) {
      await this.#publish(this.#plan(), problem);
      return this.#passes.wakeAt(this.#now() + this.#volumes.nextRetryMs());
    }
    const before = this.#plan();
    for (const name of before.replace) this.#replace(name);
    for (const name of before.start) {
      // A hook that runs now holds up those after it.
      if (this.#plan().start.includes(name)) await this.#start(name, network);
    }
    this.#watchRuns();
    this.#resizes.apply(this.#pod, this.#containers, { restart: (run, message) => this.#stop(run, { message }) });
    const plan = this.#plan();
    for (const name of plan.backingOff) this.#noteBackoff(name);
    if (plan.outcome !== undefined) this.#stopAll();
    await this.#publish(plan);
    this.#passes.wakeAt(this.#stops.advance());
    // The time of a start that was waited for may have come within this very pass.
    this.#passes.wakeAt(plan.start.length > 0 ? this.#now() : plan.lookAgainAtMs);
    this.#passes.wakeAt(await this.#volumes.renew(this.#containers.sources(this.#pod, network.address)));
  }

  async #start(name: string, network: PodNetwork): Promise<void> {
    const container = containerOf(this.#pod, name);
    const run = container === undefined ? undefined : await this.#containers.start(this.#pod, container, network);
    if (run === undefined || container === undefined) return;
    const place = { world: this.#host.world, pod: this.#pod, container, target: this.#target(run) };
    this.#postStarts.begin(run, place, {
      done: () => this.wake(),
      failed: (message) => {
        this.#note('Warning', 'FailedPostStartHook', 'PostStartHook failed');
        this.#containers.explainEnd(name, 'PostStartHookError', message);
        this.#stop(run, { message: 'FailedPostStartHook' });
        this.wake();
      },
    });
  }

  /** The pod has failed as a whole: what runs is ended, and nothing is started any more. */
  async #endFailed(): Promise<void> {
    this.#watchRuns();
    this.#stopAll();
    await this.#publish(this.#plan());
    this.#passes.wakeAt(this.#stops.advance());
  }

  /** Whoever is in a network that has lost its name cannot be reached any more: they end, and begin anew in another. */
  #abandonLostSandbox(): void {
    if (!this.#sandbox.isLost()) return;
    this.#note('Normal', 'SandboxChanged', 'Pod sandbox changed, it will be killed and re-created.');
    for (const run of this.#containers.running()) run.process.kill();
    sharedProcesses(this.#sandbox.directory, '').kill();
  }

  /** Nothing of it is begun; the pod waits for somebody to take it away. */
  async #refuse(message: string): Promise<void> {
    const whole = `Failed to create pod sandbox: ${message}`;
    if (!this.#isRefused) this.#note('Warning', 'FailedCreatePodSandBox', whole);
    this.#isRefused = true;
    await this.#publish(this.#plan(), whole);
  }

  /** The files of volumes come over the network of the machine, so they are fetched while the pod's own is made. */
  async #ensureSandbox() {
    const volumes = this.#ensureVolumes(this.#sandbox.address(this.#pod));
    const [network, problem] = await Promise.allSettled([this.#sandbox.ensure(this.#pod), volumes]);
    if (network.status === 'rejected') throw network.reason;
    if (problem.status === 'rejected') throw problem.reason;
    return { network: network.value, problem: problem.value };
  }

  async #ensureVolumes(podIp: string): Promise<string | undefined> {
    try {
      await this.#volumes.ensure(this.#containers.sources(this.#pod, podIp));
      return undefined;
    } catch (error) {
      if (!(error instanceof VolumeError)) throw error;
      const { message } = error;
      this.#host.events.record(this.#pod, { type: 'Warning', reason: 'FailedMount', message });
      return message;
    }
  }

  /** The pod is to end: ask, wait until the deadline, kill, tell the API server, remove everything. */
  async #end(): Promise<void> {
    const deadlineMs = this.#isGone ? this.#now() : this.#stops.deletionDeadlineMs(this.#pod);
    this.#stopAll(deadlineMs);
    const againMs = this.#stops.advance();
    if (againMs !== undefined && this.#containers.running().length > 0) return this.#passes.wakeAt(againMs);
    if (!this.#isGone) await this.#publish(this.#plan());
    await this.#removeSandbox();
    if (!this.#isGone) await deleteObject(this.#host, this.#pod);
    await this.#sandbox.remove();
    this.#passes.close();
    this.#hasEnded(this);
  }

  /** A pod that has run to its end keeps its files (logs) until it is deleted; its network and probes go at once. */
  async #release(): Promise<void> {
    if (this.#isReleased) return;
    if (this.#sandbox.directory.read() === undefined) return;
    this.#stopAll();
    const againMs = this.#stops.advance();
    if (againMs !== undefined) return this.#passes.wakeAt(againMs);
    await this.#removeSandbox();
    this.#isReleased = true;
  }

  async #removeSandbox(): Promise<void> {
    await this.#sandbox.removeNetwork();
    for (const run of this.#containers.all()) this.#unwatch(run);
    await removePodGroups(this.#host, this.uid);
  }

  #plan(): PodPlan {
    const spec = this.#pod.spec ?? { containers: [] };
    const plan = planPod(spec, this.#facts(), this.#now());
    return this.#failures.failure === undefined ? plan : failedPlan(plan);
  }

  #facts() {
    return this.#containers.facts(this.#pod, {
      isStarted: (run) => this.#probes.isStarted(run),
      isStarting: (run) => this.#postStarts.isRunning(run),
      isReady: (run) => this.#probes.isReady(run) && !this.#stops.isStopping(run),
    });
  }

  /** Each start that runs is watched; each that ended is not. Probes wait for the postStart hook. */
  #watchRuns(): void {
    for (const run of this.#containers.all()) {
      if (!run.isRunning()) {
        this.#unwatch(run);
        continue;
      }
      const isLost = () => this.#sandbox.isLost();
      this.#probes.watch(run, isLost, () => {
        this.#failures.countSoon();
        this.wake();
      });
      if (this.#postStarts.isRunning(run)) continue;
      this.#probes.probe(run, this.#target(run), {
        changed: () => this.wake(),
        failed: (kind, message) => this.#note('Warning', 'Unhealthy', `${kind} probe failed: ${message}`),
        unhealthy: (kind, graceSeconds) => this.#restartUnhealthy(run, kind, graceSeconds),
      });
    }
  }

  #unwatch(run: ContainerRun): void {
    this.#postStarts.cancel(run);
    this.#probes.unwatch(run);
  }

  #target(run: ContainerRun) {
    const container = containerOf(this.#pod, run.record.container) ?? { name: run.record.container };
    return probeTarget(run, this.#pod, { container, podIp: this.#address() });
  }

  #address(): string {
    return (this.#sandbox.network ?? this.#sandbox.recordedNetwork())?.address ?? '';
  }

  #restartUnhealthy(run: ContainerRun, kind: ProbeKind, graceSeconds: number | undefined): void {
    const message = `Container ${run.record.container} failed ${kind.toLowerCase()} probe, will be restarted`;
    const deadlineMs = graceSeconds === undefined ? undefined : this.#now() + graceSeconds * 1000;
    this.#stop(run, { message, ...(deadlineMs === undefined ? {} : { deadlineMs }) });
    this.wake();
  }

  #replace(name: string): void {
    const run = this.#containers.run(name);
    if (run === undefined) return;
    this.#stop(run, { message: `Container ${name} definition changed, will be restarted` });
  }

  /** Sidecars after all others. */
  #stopAll(deadlineMs?: number): void {
    const withPod = () => this.#containers.running();
    for (const run of withPod()) this.#stop(run, { withPod, ...(deadlineMs === undefined ? {} : { deadlineMs }) });
  }

  #stop(run: ContainerRun, wish: Omit<StopWish, 'pod' | 'target'> = {}): void {
    this.#stops.stop(run, { pod: this.#pod, target: this.#target(run), ...wish });
  }

  async #publish(plan: PodPlan, problem?: string): Promise<void> {
    const { failure } = this.#failures;
    const { problem: resizeProblem } = this.#resizes;
    const status = podStatus({
      pod: this.#pod,
      facts: this.#facts(),
      plan,
      podIp: this.#sandbox.network?.address ?? this.#pod.status?.podIP,
      hostIp: this.#host.nodeNetwork.address,
      startedAtMs: this.#sandbox.startedAtMs,
      nowMs: this.#now(),
      ...(problem === undefined ? {} : { problem }),
      ...(failure === undefined ? {} : { failure }),
      ...(resizeProblem === undefined ? {} : { resizeProblem }),
    });
    const written = await publishStatus(this.#host, this.#pod, status);
    // Only the status: what else changed, meanwhile even, reaches us by the watch, in order.
    if (written !== undefined) this.#pod = { ...this.#pod, status: written };
  }

  #noteBackoff(name: string): void {
    const key = `${this.#pod.metadata.name}_${this.#pod.metadata.namespace}(${this.uid})`;
    this.#note('Warning', 'BackOff', `Back-off restarting failed container ${name} in pod ${key}`);
  }

  #note(type: 'Normal' | 'Warning', reason: string, message: string): void {
    this.#host.events.record(this.#pod, { type, reason, message });
  }

  #now(): number {
    return this.#host.world.clock.now();
  }
}
