import { isDeepStrictEqual } from 'node:util';
import type { Client } from '@castellan/client';
import { type Container, isStatusError, type Pod, pods } from '@castellan/machinery';
import { type ContainerFacts, nextBackoffMs, planPod, podStatus, type RunFacts } from '@castellan/node';
import type { Cancel, World } from '@castellan/world';
import type { ProgramOf, RunningProgram } from './simulated-program.js';
import type { SimulatedDisk } from './simulated-volumes.js';

/** How long things take on a simulated node, in milliseconds: between the first and the second. */
export interface NodePace {
  /** From the pod's arrival until its containers may start. */
  readonly setUpMs: readonly [number, number];
  readonly startMs: readonly [number, number];
  /** How long an init container without a program runs. */
  readonly initMs: readonly [number, number];
  /** From a program's readiness until a probe has noticed. */
  readonly probeMs: readonly [number, number];
  /** From the signal to end until a program has ended; never longer than the grace period. */
  readonly endMs: readonly [number, number];
}

export interface PodHost {
  readonly client: Client;
  readonly world: World;
  readonly hostIp: string;
  readonly podIp: string;
  readonly pace: NodePace;
  readonly programOf: ProgramOf;
  /** The pod is gone from the node. */
  readonly ended: () => void;
  readonly failed: (message: string) => void;
}

interface Run {
  readonly facts: RunFacts;
  readonly program: RunningProgram;
  isStopping: boolean;
}

interface ContainerState {
  current?: Run;
  previous?: RunFacts;
  starts: number;
  isStarting: boolean;
  isReady: boolean;
}

const retryMs = 1_000;

/**
 * One pod on a simulated node. What is to be done, and the status that is written, come from the same functions as on a real
 * node of ours; only the programs are simulated, and time.
 */
export class SimulatedPod {
  readonly #host: PodHost;
  readonly #containers = new Map<string, ContainerState>();
  readonly #disk: SimulatedDisk;
  #pod: Pod;
  readonly #startedAtMs: number;
  #isSetUp = false;
  #isGone = false;
  #isEnding = false;
  /** Its node is down: nothing of it runs, and nothing is written. */
  #isDown = false;
  #isDirty = false;
  #isSyncing = false;
  #cancelLook: Cancel | undefined;

  constructor(host: PodHost, pod: Pod, disk: SimulatedDisk) {
    this.#host = host;
    this.#pod = pod;
    this.#disk = disk;
    this.#startedAtMs = host.world.clock.now();
    this.#later(host.pace.setUpMs, () => {
      this.#isSetUp = true;
    });
    this.wake();
  }

  get pod(): Pod {
    return this.#pod;
  }

  /** `undefined`: the API server has it no more, so everything ends at once. */
  update(pod: Pod | undefined): void {
    if (pod === undefined) this.#isGone = true;
    else this.#pod = pod;
    this.wake();
  }

  /** Ends a container's program as by itself. */
  exit(container: string, code: number): boolean {
    const run = this.#containers.get(container)?.current;
    if (run === undefined || run.facts.end !== undefined) return false;
    this.#end(container, run, code);
    return true;
  }

  loseDisk(): void {
    this.#disk.clear();
  }

  /** The machine stops: its programs are killed, and until `powerOn` nothing happens. */
  powerOff(): void {
    this.#isDown = true;
    for (const [name, { current }] of this.#containers) if (current !== undefined) this.#end(name, current, 137);
  }

  powerOn(): void {
    this.#isDown = false;
    this.wake();
  }

  wake(): void {
    this.#isDirty = true;
    if (!this.#isSyncing) void this.#run();
  }

  async #run(): Promise<void> {
    this.#isSyncing = true;
    while (this.#isDirty && !this.#isEnding && !this.#isDown) {
      this.#isDirty = false;
      try {
        await this.#sync();
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        this.#host.failed(`${this.#pod.metadata.namespace}/${this.#pod.metadata.name}: ${message}`);
        this.#lookAgainIn(retryMs);
      }
    }
    this.#isSyncing = false;
  }

  async #sync(): Promise<void> {
    if (this.#isGone || this.#pod.metadata.deletionTimestamp !== undefined) return await this.#terminate();
    if (this.#pod.status?.phase === 'Succeeded' || this.#pod.status?.phase === 'Failed') return this.#stopAll();
    if (!this.#isSetUp) return await this.#publish();
    const plan = this.#plan();
    for (const name of plan.replace) this.#stop(name);
    for (const name of plan.start) this.#startSoon(name);
    if (plan.outcome !== undefined) this.#stopAll();
    await this.#publish();
    if (plan.lookAgainAtMs !== undefined) this.#lookAgainIn(plan.lookAgainAtMs - this.#now());
  }

  async #terminate(): Promise<void> {
    if (this.#isGone) {
      for (const [name, { current }] of this.#containers) if (current !== undefined) this.#end(name, current, 137);
    } else {
      this.#stopAll();
      if ([...this.#containers.values()].some(isRunning)) return;
      await this.#publish();
      await this.#deleteObject();
    }
    this.#isEnding = true;
    this.#cancelLook?.();
    this.#host.ended();
  }

  async #deleteObject(): Promise<void> {
    const { namespace = '', name = '', uid = '' } = this.#pod.metadata;
    try {
      await this.#host.client.delete(pods, { namespace, name }, { gracePeriodSeconds: 0, preconditions: { uid } });
    } catch (error) {
      if (!isStatusError(error, 'Conflict', 'NotFound')) throw error;
    }
  }

  #startSoon(name: string): void {
    const state = this.#state(name);
    if (state.isStarting) return;
    state.isStarting = true;
    this.#later(this.#host.pace.startMs, () => {
      state.isStarting = false;
      const container = this.#container(name);
      const mayStart = !this.#isDown && !this.#isGone && this.#pod.metadata.deletionTimestamp === undefined;
      if (mayStart && container !== undefined) this.#start(container, state);
    });
  }

  #start(container: Container, state: ContainerState): void {
    const { name, image = '' } = container;
    const { world, pace, podIp, programOf } = this.#host;
    const before = state.current?.facts;
    const facts: RunFacts = {
      id: world.random.uuid(),
      image,
      imageId: `simulated://${image}`,
      startedAtMs: this.#now(),
      backoffMs: nextBackoffMs(before),
    };
    let run: Run | undefined;
    let isOver: number | undefined;
    const program = programOf(this.#pod, name)?.start({
      world,
      pod: this.#pod,
      name,
      podIp,
      disk: this.#disk,
      exit: (code) => {
        if (run === undefined) isOver = code;
        else this.#end(name, run, code);
      },
      changed: () => this.#later(pace.probeMs, () => this.#probe(name)),
    });
    run = { facts, program: program ?? {}, isStopping: false };
    if (before !== undefined) state.previous = before;
    state.current = run;
    state.starts += 1;
    state.isReady = container.readinessProbe === undefined;
    if (isOver !== undefined) {
      this.#end(name, run, isOver);
      return;
    }
    const started = run;
    if (this.#isInit(container) && program === undefined) this.#later(pace.initMs, () => this.#end(name, started, 0));
    if (!state.isReady) this.#later(pace.probeMs, () => this.#probe(name));
  }

  #probe(name: string): void {
    const state = this.#state(name);
    const isReady = this.#container(name)?.readinessProbe === undefined || state.current?.program.isReady?.() !== false;
    state.isReady = isReady;
  }

  #stopAll(): void {
    for (const name of this.#containers.keys()) this.#stop(name);
  }

  #stop(name: string): void {
    const run = this.#containers.get(name)?.current;
    if (run === undefined || run.isStopping || run.facts.end !== undefined) return;
    run.isStopping = true;
    const { deletionGracePeriodSeconds } = this.#pod.metadata;
    const graceMs = (deletionGracePeriodSeconds ?? this.#pod.spec?.terminationGracePeriodSeconds ?? 30) * 1_000;
    const [least, most] = this.#host.pace.endMs;
    this.#later([Math.min(least, graceMs), Math.min(most, graceMs)], () => this.#end(name, run, 0));
  }

  #end(name: string, run: Run, exitCode: number): void {
    const state = this.#state(name);
    if (state.current !== run || run.facts.end !== undefined) return;
    const reason = exitCode === 0 ? 'Completed' : 'Error';
    const end = { exitCode, finishedAtMs: this.#now(), reason, isSuspended: false };
    state.current = { ...run, facts: { ...run.facts, end } };
    state.isReady = false;
    run.program.ended?.();
    this.wake();
  }

  #plan() {
    return planPod(this.#pod.spec ?? { containers: [] }, this.#facts(), this.#now());
  }

  #facts(): ReadonlyMap<string, ContainerFacts> {
    const facts = new Map<string, ContainerFacts>();
    for (const [name, { current, previous, starts, isReady }] of this.#containers) {
      facts.set(name, {
        name,
        ...(current === undefined ? {} : { current: current.facts }),
        ...(previous === undefined ? {} : { previous }),
        restartCount: Math.max(0, starts - 1),
        isStarted: current !== undefined,
        isReady: isReady && current?.isStopping !== true,
      });
    }
    return facts;
  }

  async #publish(): Promise<void> {
    const { client, hostIp, podIp } = this.#host;
    const status = podStatus({
      pod: this.#pod,
      facts: this.#facts(),
      plan: this.#plan(),
      podIp: this.#isSetUp ? podIp : undefined,
      hostIp,
      startedAtMs: this.#startedAtMs,
      nowMs: this.#now(),
    });
    const current = this.#pod.status ?? {};
    if (isDeepStrictEqual({ ...current, ...status }, current)) return;
    const { namespace = '', name = '', uid } = this.#pod.metadata;
    const patch = { type: 'merge', body: { metadata: { uid }, status } } as const;
    try {
      const written = await client.patch(pods, { namespace, name }, patch, { subresource: 'status' });
      if (uid === written.metadata.uid && written.status !== undefined) {
        this.#pod = { ...this.#pod, status: written.status };
      }
    } catch (error) {
      if (!isStatusError(error, 'NotFound', 'Conflict', 'Invalid')) throw error;
    }
  }

  #state(name: string): ContainerState {
    let state = this.#containers.get(name);
    if (state === undefined) {
      state = { starts: 0, isStarting: false, isReady: false };
      this.#containers.set(name, state);
    }
    return state;
  }

  #container(name: string): Container | undefined {
    const { initContainers = [], containers = [] } = this.#pod.spec ?? {};
    return [...initContainers, ...containers].find((container) => container.name === name);
  }

  #isInit(container: Container): boolean {
    return this.#pod.spec?.initContainers?.some(({ name }) => name === container.name) === true;
  }

  #now(): number {
    return this.#host.world.clock.now();
  }

  #later([least, most]: readonly [number, number], happen: () => void): void {
    const { clock, random } = this.#host.world;
    clock.after(least + random.next() * (most - least), () => {
      happen();
      this.wake();
    });
  }

  #lookAgainIn(ms: number): void {
    this.#cancelLook?.();
    this.#cancelLook = this.#host.world.clock.after(Math.max(1, ms), () => this.wake());
  }
}

function isRunning({ current }: ContainerState): boolean {
  return current !== undefined && current.facts.end === undefined;
}
