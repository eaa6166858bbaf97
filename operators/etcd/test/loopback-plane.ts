import { type ContainerStatus, type ObjectKey, type Pod, pods } from '@castellan/machinery';
import type { Controller, EventNote, ReconcileContext } from '@castellan/runtime';
import { realWorld, waitFor } from '@castellan/world';
import {
  type EtcdAdmin,
  type EtcdCluster,
  type EtcdClusterSpec,
  etcdAdmin,
  etcdClusters,
  etcdController,
} from '../src/index.js';
import { EtcdProcess, isHealthy, loopbackAddress } from './etcd-processes.js';
import { InMemoryCluster } from './in-memory-cluster.js';

const world = realWorld();
const key: ObjectKey = { namespace: 'default', name: 'demo' };

interface RunningPod {
  readonly address: string;
  readonly process: EtcdProcess;
  isDeleted: boolean;
  restarts: number;
  lastRun: ContainerStatus['lastState'];
}

/**
 * The operator's controller over an API server in memory, with real etcd processes for pods: each pod is one process on
 * a loopback address of its own. DNS names are translated to those addresses on the way to etcd, and back.
 */
export class LoopbackPlane {
  readonly cluster = new InMemoryCluster();
  readonly events: EventNote[] = [];
  readonly reasons: string[] = [];
  readonly admin: EtcdAdmin = this.#translatingAdmin();
  readonly #pods = new Map<string, RunningPod>();
  readonly #ending = new AbortController();
  readonly #lookers = new Set<() => void>();
  #controller: Controller<EtcdCluster> = etcdController({ admin: this.admin });
  #loops: Promise<void>[] = [];
  #wake: () => void = () => {};

  constructor() {
    this.cluster.onChange = (type, changed) => {
      if (type.plural === pods.plural) this.#syncPod(changed);
      for (const look of this.#lookers) look();
      this.#wake();
    };
    this.#loops.push(this.#reconcileLoop(), this.#probeLoop());
  }

  apply(spec: EtcdClusterSpec): void {
    const current = this.cluster.read(etcdClusters, key);
    if (current === undefined) {
      this.cluster.create(etcdClusters, {
        apiVersion: 'etcd.database.coreos.com/v1beta2',
        kind: 'EtcdCluster',
        metadata: key,
        spec,
      });
    } else {
      const generation = (current.metadata.generation ?? 0) + 1;
      this.cluster.write(etcdClusters, key, { ...current, spec, metadata: { ...current.metadata, generation } });
    }
  }

  get object(): EtcdCluster {
    return this.cluster.require(etcdClusters, key);
  }

  get podNames(): readonly string[] {
    return this.cluster.all(pods).map(({ metadata }) => metadata.name ?? '');
  }

  uidOf(podName: string): string {
    return this.cluster.require(pods, { ...key, name: podName }).metadata.uid ?? '';
  }

  /** Where clients reach the members that are ready. */
  get endpoints(): readonly string[] {
    return (this.object.status?.members?.ready ?? []).map((name) => `http://${this.address(name)}:2379`);
  }

  /** A new operator process, which remembers nothing. */
  restartOperator(): void {
    this.#controller = etcdController({ admin: this.admin });
  }

  killPod(name: string): void {
    this.cluster.delete(pods, { ...key, name });
  }

  async crash(name: string): Promise<void> {
    await this.#pods.get(name)?.process.stop('SIGKILL');
  }

  async wipeAndCrash(name: string): Promise<void> {
    const pod = this.#pods.get(name);
    await pod?.process.wipe();
    await pod?.process.stop('SIGKILL');
  }

  /** A `kill -9` in the moment between the first start's new log and the first entry in it. */
  async cutShort(name: string): Promise<void> {
    const process = await waitFor(world, () => this.#pods.get(name)?.process, {
      what: () => `the process of ${name}`,
      deadlineMs: 30_000,
    });
    await waitFor(world, () => process.hasLog(), { what: () => `the log of ${name}`, deadlineMs: 30_000 });
    await process.stop('SIGKILL');
    await process.cutLogBeforeFirstEntry();
  }

  /** Looks at every state that is written from here on, so that one that lasts a moment is not missed. */
  async waitUntil(what: string, deadlineMs: number, condition: (object: EtcdCluster) => boolean): Promise<void> {
    let hasHeld = condition(this.object);
    const look = () => {
      hasHeld ||= condition(this.object);
    };
    this.#lookers.add(look);
    try {
      await waitFor(world, () => hasHeld, {
        what: () => `${what}; last reasons: ${JSON.stringify(this.reasons.slice(-5))}; ${this.#logs()}`,
        deadlineMs,
      });
    } finally {
      this.#lookers.delete(look);
    }
  }

  isReady(podName: string): boolean {
    return this.cluster.read(pods, { ...key, name: podName })?.status?.containerStatuses?.[0]?.ready === true;
  }

  isAvailable(members: number): (object: EtcdCluster) => boolean {
    return ({ status, metadata }) =>
      status?.observedGeneration === metadata.generation &&
      status?.readyMembers === members &&
      status.conditions?.some(({ type, status: holds }) => type === 'Available' && holds === 'True') === true;
  }

  async stop(): Promise<void> {
    this.#ending.abort();
    this.#wake();
    await Promise.all(this.#loops);
    const running = [...this.#pods.values()];
    for (const pod of running) pod.isDeleted = true;
    await Promise.all(running.map(({ process }) => process.remove()));
  }

  address(podName: string): string {
    return this.#pods.get(podName)?.address ?? this.#addresses(podName);
  }

  readonly #given = new Map<string, string>();
  #addresses(podName: string): string {
    const address = this.#given.get(podName) ?? loopbackAddress();
    this.#given.set(podName, address);
    return address;
  }

  #translate(text: string): string {
    return text.replaceAll(/([a-z0-9-]+)\.demo\.default\.svc/g, (_, podName: string) => this.address(podName));
  }

  #translateBack(url: string): string {
    const podName = [...this.#given].find(([, address]) => url.includes(`//${address}:`))?.[0];
    return podName === undefined ? url : `http://${podName}.demo.default.svc:2380`;
  }

  #translatingAdmin(): EtcdAdmin {
    const admin = etcdAdmin();
    return {
      ...admin,
      addLearner: (endpoint, peerUrl, signal) => admin.addLearner(endpoint, this.#translate(peerUrl), signal),
      members: async (endpoint, signal) => {
        const { clusterId, members } = await admin.members(endpoint, signal);
        const back = (urls: readonly string[]) => urls.map((url) => this.#translateBack(url));
        return { clusterId, members: members.map((member) => ({ ...member, peerUrls: back(member.peerUrls) })) };
      },
    };
  }

  async #reconcileLoop(): Promise<void> {
    const { signal } = this.#ending;
    while (!signal.aborted) {
      const woken = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      const result = await this.#controller.reconcile(key, this.#context());
      const reason = this.cluster.read(etcdClusters, key)?.status?.reason;
      if (reason !== undefined && reason !== this.reasons.at(-1)) this.reasons.push(reason);
      const rest = new AbortController();
      const slept = world.clock.sleep(result?.requeueAfterMs ?? 5000, rest.signal).catch(() => {});
      await Promise.race([woken, slept]);
      rest.abort();
    }
  }

  #context(): ReconcileContext {
    const quiet = () => {};
    const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };
    const events = { record: (_: unknown, note: EventNote) => this.events.push(note) };
    const { client, reader } = this.cluster;
    return { client, cache: reader, world, signal: AbortSignal.timeout(30_000), log, events };
  }

  #syncPod({ name }: ObjectKey): void {
    const object = this.cluster.read(pods, { ...key, name });
    const running = this.#pods.get(name);
    if (object === undefined && running !== undefined) {
      running.isDeleted = true;
      this.#pods.delete(name);
      this.#loops.push(running.process.remove());
    }
    if (object !== undefined && running === undefined) this.#loops.push(this.#startPod(name, object));
  }

  async #startPod(name: string, object: Pod): Promise<void> {
    const address = this.#addresses(name);
    const command = object.spec?.containers[0]?.command ?? [];
    const process = await EtcdProcess.create((dataDirectory) =>
      command
        .slice(1)
        .map((flag) => this.#translate(flag).replace('/var/etcd/data', dataDirectory).replace('0.0.0.0', address)),
    );
    const pod: RunningPod = { address, process, isDeleted: false, restarts: 0, lastRun: {} };
    this.#pods.set(name, pod);
    this.#run(name, pod);
  }

  /** Starts the container, with `ETCD_STATE` as the annotation has it now; and again when it ends. */
  #run(name: string, pod: RunningPod): void {
    const object = this.cluster.read(pods, { ...key, name });
    if (object === undefined || pod.isDeleted || this.#ending.signal.aborted) return;
    const state = object.metadata.annotations?.['etcd.database.coreos.com/initial-cluster-state'] ?? '';
    const startedAt = new Date().toISOString();
    pod.process.start({ ETCD_STATE: state }, (code) => {
      pod.lastRun = { terminated: { exitCode: code ?? 137, startedAt, finishedAt: new Date().toISOString() } };
      pod.restarts++;
      this.#report(name, pod, { waiting: { reason: 'CrashLoopBackOff' } }, false);
      world.clock.after(200 * pod.restarts, () => this.#run(name, pod));
    });
    this.#report(name, pod, { running: { startedAt } }, false);
  }

  #report(name: string, pod: RunningPod, state: ContainerStatus['state'], isReady: boolean): void {
    const object = this.cluster.read(pods, { ...key, name });
    if (object === undefined || pod.isDeleted) return;
    const container: ContainerStatus = {
      name: 'etcd',
      image: '',
      imageID: '',
      ready: isReady,
      restartCount: pod.restarts,
      ...(state && { state }),
      ...(pod.lastRun && { lastState: pod.lastRun }),
    };
    const conditions = [{ type: 'Ready', status: isReady ? 'True' : 'False' }];
    const status = { phase: 'Running', podIP: pod.address, containerStatuses: [container], conditions };
    this.cluster.write(pods, { ...key, name }, { ...object, status });
  }

  async #probeLoop(): Promise<void> {
    while (!this.#ending.signal.aborted) {
      for (const [name, pod] of this.#pods) {
        const wasReady = this.cluster.read(pods, { ...key, name })?.status?.containerStatuses?.[0]?.ready;
        const isReady = pod.process.isRunning && (await isHealthy(pod.address));
        if (wasReady !== isReady && pod.process.isRunning) {
          this.#report(name, pod, { running: { startedAt: new Date().toISOString() } }, isReady);
        }
      }
      await world.clock.sleep(100);
    }
  }

  #logs(): string {
    return [...this.#pods].map(([name, pod]) => `${name}: ${pod.process.log.slice(-300)}`).join('\n');
  }
}
