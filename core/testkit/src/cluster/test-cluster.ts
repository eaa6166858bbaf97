import { createApiServer } from '@castellan/apiserver';
import { type Client, connect, type Transport } from '@castellan/client';
import { type PlaneControllers, planeControllers } from '@castellan/controllers';
import { type Keyspace, memoryKeyspace } from '@castellan/keyspace';
import { type KubernetesObject, keyOf } from '@castellan/machinery';
import {
  type Controller,
  createLog,
  createManager,
  installKinds,
  type LeaderElectionOptions,
  type Log,
  type LogLevel,
  type Operator,
  type Reader,
} from '@castellan/runtime';
import { schedulerController } from '@castellan/scheduler';
import { realWorld, SimulatedWorld, type World } from '@castellan/world';
import { SimulatedNodes, type SimulatedNodesOptions } from '../node/simulated-nodes.js';
import { SimulatedVolumes } from '../node/simulated-volumes.js';
import { ClusterState } from './cluster-state.js';
import { drivenClient } from './driven-client.js';
import { type Driver, RealDriver, VirtualDriver } from './driver.js';
import { Faults } from './faults.js';
import { freshKeyspace } from './fresh-keyspace.js';
import { History, type HistoryEntry, historyText } from './history.js';
import { inProcessTransport } from './in-process-transport.js';
import { lateKeyspace } from './late-keyspace.js';
import { ClusterProcess, type ProcessOptions } from './process.js';
import type { ProcessLife } from './process-life.js';
import { ServedKinds } from './served-kinds.js';

/** What an operator is made of, anew for each life of its process. */
export type OperatorFactory = (life: ProcessLife) => Operator;

export interface OperatorProcess {
  /** Of the process; the operator's own name when absent. */
  readonly name?: string;
  readonly create: OperatorFactory;
  /** As many processes of it as this; they are named `NAME-0`, `NAME-1`, … when there is more than one. 1 when absent. */
  readonly replicas?: number;
  /** Only one of the processes works at a time. */
  readonly elects?: boolean;
}

export interface TestClusterOptions {
  /** `virtual`: time passes only while the test waits, and everything that happens follows from the seed. */
  readonly clock: 'virtual' | 'real';
  /** Of a virtual cluster; 1 when absent. */
  readonly seed?: number;
  readonly operators?: readonly (OperatorFactory | OperatorProcess)[];
  /** How many simulated nodes there are; 3 when absent. */
  readonly nodes?: number;
  /** What containers run, and how long things take on the nodes. */
  readonly node?: Pick<SimulatedNodesOptions, 'programOf' | 'pace'>;
  /** Controllers and scheduler of the plane; true when absent. */
  readonly controllers?: boolean;
  /** The command that repeats this run, for messages of failures. */
  readonly replay?: string;
  /** Lines from this level on go to standard error; nothing when absent. */
  readonly logLevel?: LogLevel;
}

/** A control plane with operators and simulated nodes in this process, joined by function calls instead of sockets. */
export interface TestCluster {
  readonly seed: number;
  readonly world: World;
  /** An administrator's client. It meets no faults, and its calls let time pass. */
  readonly client: Client;
  /** What is stored now, read without a request. */
  readonly state: Reader & { objects(): readonly (readonly [string, KubernetesObject])[]; readonly revision: number };
  readonly faults: Faults;
  readonly nodes: SimulatedNodes;
  /** What was made for claims, on all nodes. */
  readonly volumes: SimulatedVolumes;
  /** The processes that live now: `plane`, `nodes`, and those of the operators. */
  readonly processes: readonly ClusterProcess[];
  /** Creates objects, or replaces the spec of those that are there; any kind that is served. */
  apply(objects: readonly KubernetesObject[]): Promise<void>;
  advance(ms: number): Promise<void>;
  /**
   * Lets time pass until `condition` gives something other than `undefined` or `false`, and gives that. Looks after each write,
   * and each second. Fails after `limitMs` with a message that names what was waited for and ends with the command that repeats
   * the run.
   */
  runUntil<T>(
    what: string,
    condition: () => T | undefined | false | Promise<T | undefined | false>,
    limitMs: number,
  ): Promise<T>;
  /** An error whose message ends with the command that repeats this run. */
  failure(message: string, cause?: unknown): Error;
  /** Everything that happened so far; two runs of one seed give the same, byte for byte, as `historyText`. */
  history(): readonly HistoryEntry[];
  historyText(): string;
  stop(): Promise<void>;
}

const administrator = { name: 'kubernetes-admin', groups: ['system:masters'] } as const;
/** Stands for the certificate that a real plane publishes in every namespace. */
const rootCertificate = '-----BEGIN CERTIFICATE-----\nsimulated\n-----END CERTIFICATE-----\n';

/** Resolves when everything works: caches are complete, nodes are ready and kinds are served. */
export async function testCluster(options: TestClusterOptions): Promise<TestCluster> {
  const cluster = new Cluster(options);
  try {
    await cluster.start();
  } catch (error) {
    await cluster.stop().catch(() => {});
    throw error;
  }
  return cluster;
}

class Cluster implements TestCluster {
  readonly seed: number;
  readonly world: World;
  readonly client: Client;
  readonly state: ClusterState;
  readonly faults: Faults;
  readonly volumes = new SimulatedVolumes();
  readonly #options: TestClusterOptions;
  readonly #history: History;
  readonly #driver: Driver;
  #keyspace: Keyspace;
  readonly #log: Log;
  readonly #servers = new Map<number, ReturnType<typeof createApiServer>>();
  readonly #lives = new Map<string, ClusterProcess>();
  readonly #failures: unknown[] = [];
  readonly #kinds: ServedKinds;
  #nodes: SimulatedNodes | undefined;
  #isStopping = false;

  constructor(options: TestClusterOptions) {
    this.#options = options;
    this.seed = options.seed ?? 1;
    const simulated = new SimulatedWorld(this.seed);
    this.world = options.clock === 'virtual' ? simulated : realWorld();
    this.#history = new History(this.world);
    this.state = new ClusterState(this.#history);
    this.#driver =
      options.clock === 'virtual'
        ? new VirtualDriver(simulated, () => this.state.revision)
        : new RealDriver(this.world);
    this.#keyspace = memoryKeyspace(this.world);
    const processes = () => this.processes;
    this.faults = new Faults({ world: this.world, history: this.#history, processes });
    const { logLevel } = options;
    this.#log = createLog({
      world: this.world,
      format: 'human',
      level: logLevel ?? 'error',
      write: (line) => {
        if (logLevel !== undefined) process.stderr.write(`${line}\n`);
      },
    });
    const transport: Transport = {
      send: async (request) => await (await this.#transport(0)).send(request),
      close: async () => {},
    };
    const client = connect({ server: 'https://simulated' }, { world: this.world, transport, userAgent: 'test' });
    this.client = drivenClient(client, (promise) => this.#driver.run(promise));
    this.#kinds = new ServedKinds(this.client);
  }

  get nodes(): SimulatedNodes {
    if (this.#nodes === undefined) throw new Error('the cluster has not started');
    return this.#nodes;
  }

  get processes(): readonly ClusterProcess[] {
    return [...this.#lives.values()];
  }

  async start(): Promise<void> {
    await this.#driver.run(this.#start());
  }

  async #start(): Promise<void> {
    const { operators = [], controllers = true } = this.#options;
    // Its objects are as old as simulated time.
    if (this.#options.clock === 'virtual') this.#keyspace = await freshKeyspace(this.world);
    await this.state.follow(this.#keyspace);
    await this.#transport(0);
    const nodesReady = this.#startProcess('nodes', (life, ready) => this.#runNodes(life, ready));
    const planeReady = controllers
      ? this.#startProcess('plane', (life, ready) => this.#runPlane(life, ready))
      : undefined;
    await Promise.all([nodesReady, planeReady]);
    await Promise.all(operators.map((operator) => this.#startOperator(operator)));
  }

  async apply(objects: readonly KubernetesObject[]): Promise<void> {
    for (const object of objects) {
      const type = await this.#kinds.typeOf(object);
      const patch = { type: 'apply', body: object, fieldManager: 'test', force: true } as const;
      await this.client.patch(type, keyOf(object), patch);
    }
  }

  async advance(ms: number): Promise<void> {
    await this.#driver.advance(ms);
    this.#assertSound();
  }

  async runUntil<T>(
    what: string,
    condition: () => T | undefined | false | Promise<T | undefined | false>,
    limitMs: number,
  ): Promise<T> {
    const found = await this.#driver.runUntil(() => {
      this.#assertSound();
      return condition();
    }, limitMs);
    if (found !== undefined && found !== false) return found;
    throw this.failure(`waited ${limitMs / 1000} s for ${what}; it did not happen`);
  }

  failure(message: string, cause?: unknown): Error {
    const { replay } = this.#options;
    const again = replay === undefined ? `the same test with seed ${this.seed}` : replay;
    return new Error(`${message}\n  again: ${again}`, cause === undefined ? {} : { cause });
  }

  history(): readonly HistoryEntry[] {
    return this.#history.entries;
  }

  historyText(): string {
    return historyText(this.#history.entries);
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    this.faults.clear();
    await this.#driver.run(this.#stop());
  }

  async #stop(): Promise<void> {
    await Promise.all(this.processes.map((life) => life.stop()));
    for (const server of this.#servers.values()) await (await server).close();
    await this.#keyspace.close();
  }

  /** What a process failed with ends the run at the next occasion. */
  #assertSound(): void {
    const [first] = this.#failures;
    if (first !== undefined) throw this.failure(first instanceof Error ? first.message : String(first), first);
  }

  async #transport(lagMs: number) {
    let server = this.#servers.get(lagMs);
    if (server === undefined) {
      const keyspace = lagMs === 0 ? this.#keyspace : lateKeyspace(this.#keyspace, this.world, () => lagMs);
      server = createApiServer({
        keyspace,
        world: this.world,
        defaultRoles: 'asNeeded',
        log: (line) => this.#log.error(line),
      });
      this.#servers.set(lagMs, server);
    }
    return inProcessTransport(await server, administrator);
  }

  /** Resolves when the first life is ready. */
  #startProcess(party: string, main: (life: ClusterProcess, ready: () => void) => Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      const begin = (number: number): void => {
        const life: ClusterProcess = new ClusterProcess({
          ...this.#lifeOptions(party, number),
          main: (own) => main(own, resolve),
          died: (restartMs) => {
            this.world.clock.after(restartMs, () => {
              if (!this.#isStopping) begin(number + 1);
            });
          },
        });
        this.#lives.set(party, life);
        life.start((error) => {
          this.#failures.push(error);
          reject(error);
        });
      };
      begin(1);
    });
  }

  #lifeOptions(party: string, life: number): Omit<ProcessOptions, 'main'> {
    return {
      party,
      life,
      world: this.world,
      faults: this.faults,
      history: this.#history,
      server: async (lagMs) => await this.#transport(lagMs),
      died: () => {},
    };
  }

  async #runNodes(life: ClusterProcess, ready: () => void): Promise<void> {
    const count = this.#options.nodes ?? 3;
    const names = Array.from({ length: count }, (_, index) => `node-${index + 1}`);
    const nodes = new SimulatedNodes({
      ...this.#options.node,
      client: life.client,
      world: life.world,
      log: this.#log,
      names,
      volumes: this.volumes,
    });
    this.#nodes = nodes;
    await nodes.register();
    await this.#manage(life, { controllers: nodes.controllers, ready });
  }

  async #runPlane(life: ClusterProcess, ready: () => void): Promise<void> {
    const context = { client: life.client, world: life.world, log: this.#log, rootCertificate };
    const { controllers, components } = planeControllers(context);
    await this.#manage(life, { controllers: [...controllers, schedulerController()], components, ready });
  }

  async #startOperator(given: OperatorFactory | OperatorProcess): Promise<void> {
    const operator = typeof given === 'function' ? { create: given } : given;
    const { create, replicas = 1, elects = false } = operator;
    const { name = await this.#install(create) } = operator;
    if (operator.name !== undefined) await this.#install(create);
    const parties = replicas === 1 ? [name] : Array.from({ length: replicas }, (_, index) => `${name}-${index}`);
    const main = async (life: ClusterProcess, ready: () => void) => {
      const { controllers } = create(life);
      const lease = { name, namespace: 'kube-system', identity: life.life };
      await this.#manage(life, { controllers, ready, ...(elects ? { leaderElection: lease } : {}) });
    };
    await Promise.all(parties.map((party) => this.#startProcess(party, main)));
  }

  /** Makes the operator's kinds, as somebody does who installs it; gives its name. */
  async #install(create: OperatorFactory): Promise<string> {
    const installer = new ClusterProcess({ ...this.#lifeOptions('installer', 1), main: async () => {} });
    const { name, customResourceDefinitions } = create(installer);
    await installKinds(installer.client, customResourceDefinitions, this.world);
    return name;
  }

  async #manage(life: ClusterProcess, parts: ManagedParts): Promise<void> {
    const { controllers, components = [], leaderElection, ready } = parts;
    const { client, world, signal } = life;
    const election = leaderElection === undefined ? {} : { leaderElection };
    const manager = createManager({ wholeCache: true, client, world, log: this.#log, controllers, ...election });
    const running = Promise.all([manager, ...components].map((part) => part.run(signal)));
    manager.ready().then(ready, () => {});
    await running;
  }
}

interface ManagedParts {
  readonly controllers: readonly Controller[];
  readonly components?: PlaneControllers['components'];
  readonly leaderElection?: LeaderElectionOptions;
  /** Called when the caches are complete. */
  readonly ready: () => void;
}
