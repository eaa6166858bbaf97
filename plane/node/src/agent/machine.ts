import { StatusError } from '@castellan/machinery';
import {
  type Channel,
  type Controller,
  channelSource,
  type EventNote,
  type EventRecorder,
  type Log,
} from '@castellan/runtime';
import type { World } from '@castellan/world';
import { ClusterZone } from '../dns/cluster-zone.js';
import { DnsServer } from '../dns/dns-server.js';
import { machineNameServers, Upstream } from '../dns/upstream.js';
import { ImagePulls } from '../image-store/image-pulls.js';
import { ImageStore } from '../image-store/image-store.js';
import { defaultProgramDirectory, ImageCatalogue } from '../images/image-catalogue.js';
import { MachineUsage, type NodeUsage } from '../metrics/machine-usage.js';
import { podController, takeOverController, volumeSourceControllers } from '../pods/pod-controller.js';
import type { PodHost } from '../pods/pod-host.js';
import { PodPlaces } from '../pods/pod-places.js';
import { removeUnrecorded } from '../pods/pod-sandbox.js';
import type { PodWorkers } from '../pods/pod-workers.js';
import { policyController } from '../policy/policy-controller.js';
import { PolicyEnforcer } from '../policy/policy-enforcer.js';
import { formatRange, isInRange } from '../sandbox/address-range.js';
import { detectCgroups } from '../sandbox/cgroups.js';
import { ExitWatch } from '../sandbox/exit-watch.js';
import { LogKeeper } from '../sandbox/log-keeper.js';
import { NamespaceConnectors } from '../sandbox/namespace-connector.js';
import { ensurePlaneNetwork, nodeNetworkAt, type PlaneNetwork, removeNodeAddress } from '../sandbox/plane-network.js';
import { serviceController } from '../services/service-controller.js';
import { serviceEnvironment } from '../services/service-environment.js';
import { ServiceProxy, type ServiceProxyMode } from '../services/service-proxy.js';
import { ServiceTable } from '../services/service-table.js';
import { localStorageControllers } from '../storage/local-storage.js';
import { VolumeDirectories } from '../storage/volume-directories.js';
import { stopAllPods } from './graceful-stop.js';
import { type NodeAgent, type NodeOptions, type NodeParts, RunningNode } from './node-agent.js';
import { powerOff } from './power-off.js';
import { removeEverything } from './remove-everything.js';

export interface MachineOptions {
  readonly world: World;
  readonly log: Log;
  /** Pods' records, volumes and logs are below `pods/`; names on the machine follow from its path. */
  readonly dataDirectory: string;
  /** In this order: a node's place tells which addresses its pods have. */
  readonly nodes: readonly NodeOptions[];
  /**
   * Each node has a /24 of it: a /20 has room for 16. When something on the machine is in it, one of the ranges after it is
   * taken and written down.
   */
  readonly podCidr?: string;
  /** Of this plane alone: two planes on one machine must not share it. Without it services have no addresses here. */
  readonly serviceCidr?: string;
  readonly clusterDomain?: string;
  /** Where the service `kubernetes` leads. */
  readonly apiServer: { readonly host: string; readonly port: number };
  readonly images?: {
    readonly programDirectory?: string;
    /** The program that pulls images; the machine's when absent. */
    readonly skopeo?: string;
  };
  /** `nftables` by default: by the kernel where it can. */
  readonly serviceProxy?: ServiceProxyMode;
}

/**
 * Makes pods real on this machine, as those of one node or of several: what kubelets, a container runtime, kube-proxy and
 * cluster DNS do elsewhere. The nodes share the machine's network, names and services (docs/decisions/0009).
 */
export interface Machine {
  /** To be run by a manager; they do nothing before `start`. */
  readonly controllers: readonly Controller[];
  /** Prepares network and DNS, and starts the nodes that are not off. Pods of theirs that run already go on. */
  start(): Promise<StartedMachine>;
  /**
   * After the manager has ended. `keep` leaves pods running for the next start to adopt. `stop` ends them (10 s to
   * comply), leaves volumes on disk for the next start, and removes all else from the machine.
   */
  stop(options: { readonly pods: 'keep' | 'stop' }): Promise<void>;
  /** Throws a StatusError when the machine has no such node, or it is stopped. */
  node(name: string): NodeAgent;
  nodes(): readonly NodeState[];
  /** What the nodes that run, and their pods, use now. Measured when it is asked for: it may take half a second. */
  usage(): Promise<readonly NodeUsage[]>;
  /** Resolves when the node has said that it is ready; its pods follow. Nothing happens when it runs already. */
  startNode(name: string): Promise<void>;
  /** As a loss of power of that node. Nothing happens when it is stopped already. */
  stopNode(name: string): Promise<void>;
}

export interface NodeState {
  readonly name: string;
  readonly isRunning: boolean;
  readonly zone?: string;
  /** Of its pods' addresses; empty until the machine has started. */
  readonly podCidr: string;
}

export interface StartedMachine {
  /** Where pods reach the API server, besides service default/kubernetes; undefined where something else has that port. */
  readonly apiServer: { readonly address: string; readonly port: number } | undefined;
}

const stopDeadlineMs = 10_000;
const defaultPodCidr = '10.244.0.0/20';

export function createMachine(options: MachineOptions): Machine {
  return new ThisMachine(options);
}

/** What all pods of the machine share, once it has started. */
type Shared = Omit<PodHost, 'client' | 'nodeName' | 'nodeNetwork'>;

class ThisMachine implements Machine {
  readonly controllers: readonly Controller[];
  readonly #options: MachineOptions;
  readonly #clusterDomain: string;
  readonly #table = new ServiceTable();
  readonly #proxy: ServiceProxy;
  readonly #policies = new PolicyEnforcer();
  readonly #exits: ExitWatch;
  readonly #logs: LogKeeper;
  readonly #events = new LateRecorder();
  readonly #connectors = new NamespaceConnectors();
  readonly #started: Channel = channelSource({ name: 'node-started' });
  readonly #running = new Map<string, RunningNode>();
  readonly #usage: MachineUsage;
  #shared: Shared | undefined;
  #dns: DnsServer | undefined;
  /** Starts and stops of nodes come one after the other. */
  #turn: Promise<void> = Promise.resolve();

  constructor(options: MachineOptions) {
    this.#options = options;
    this.#clusterDomain = options.clusterDomain ?? 'cluster.local';
    this.#proxy = new ServiceProxy({ log: options.log, clock: options.world.clock, apiServer: options.apiServer });
    this.#exits = new ExitWatch(options.world);
    this.#logs = new LogKeeper({ world: options.world, onProblem: (message) => options.log.warn(message) });
    const running = () => this.#workers();
    this.#usage = new MachineUsage(
      options.world,
      () => new Map([...running()].map(([name, workers]) => [name, workers.all()])),
    );
    this.controllers = [
      podController((context) => {
        this.#events.use(context.events);
        return this.#workers();
      }),
      takeOverController(this.#started, running),
      ...volumeSourceControllers(running),
      serviceController(this.#table, this.#proxy),
      policyController(this.#policies),
      ...localStorageControllers({
        volumes: new VolumeDirectories(options.dataDirectory),
        runningNodes: () => [...this.#running.keys()],
      }),
    ];
  }

  async start(): Promise<StartedMachine> {
    const { dataDirectory, podCidr = defaultPodCidr, serviceCidr, nodes, apiServer } = this.#options;
    const network = await ensurePlaneNetwork({
      dataDirectory,
      podCidr,
      ...(serviceCidr === undefined ? {} : { serviceCidr }),
    });
    await removeUnrecorded(dataDirectory, network);
    const places = nodes.map(({ name }, ordinal) => ({ name, ...nodeNetworkAt(network, ordinal) }));
    const { log, world } = this.#options;
    const mode = await this.#proxy.start({ ...network, nodes: places }, this.#options.serviceProxy);
    if (mode === 'nftables') await this.#policies.start(network.bridge, { log, clock: world.clock });
    this.#dns = await this.#listenDns(network);
    this.#shared = this.#share(network);
    for (const [ordinal, { name, isStopped = false }] of nodes.entries()) {
      if (isStopped) {
        // It may have run when the plane was killed.
        await powerOff(dataDirectory, name);
        await removeNodeAddress(network, nodeNetworkAt(network, ordinal));
      } else {
        await this.startNode(name);
      }
    }
    const isOpen = await this.#proxy.openApiServer(network.gateway);
    return { apiServer: isOpen ? { address: network.gateway, port: apiServer.port } : undefined };
  }

  async stop({ pods }: { readonly pods: 'keep' | 'stop' }): Promise<void> {
    const { dataDirectory, world } = this.#options;
    await this.#turn.catch(() => undefined);
    this.#shared?.pulls.close();
    this.#shared = undefined;
    await Promise.all([...this.#running.values()].map((node) => node.close()));
    this.#running.clear();
    this.#connectors.close();
    this.#exits.close();
    this.#logs.close();
    if (pods === 'stop') await stopAllPods(dataDirectory, world, stopDeadlineMs);
    await this.#proxy.close();
    await this.#policies.close();
    await this.#dns?.close();
    if (pods === 'stop') await removeEverything(dataDirectory);
  }

  node(name: string): NodeAgent {
    const node = this.#running.get(name);
    if (node !== undefined) return node;
    if (!this.#options.nodes.some((known) => known.name === name)) {
      throw StatusError.of('InternalError', `node ${JSON.stringify(name)} is not on this machine`);
    }
    throw StatusError.of(
      'InternalError',
      `node ${JSON.stringify(name)} is stopped; next: castellan node start ${name}`,
    );
  }

  nodes(): readonly NodeState[] {
    const network = this.#shared?.network;
    return this.#options.nodes.map(({ name, zone }, ordinal) => ({
      name,
      isRunning: this.#running.has(name),
      ...(zone === undefined ? {} : { zone }),
      podCidr: network === undefined ? '' : formatRange(nodeNetworkAt(network, ordinal).podRange),
    }));
  }

  usage(): Promise<readonly NodeUsage[]> {
    return this.#usage.nodes();
  }

  startNode(name: string): Promise<void> {
    return this.#inTurn(async () => {
      const ordinal = this.#ordinalOf(name);
      const options = this.#options.nodes[ordinal];
      if (this.#running.has(name) || options === undefined) return;
      if (this.#shared === undefined) throw new Error('the machine is not started');
      const nodeNetwork = nodeNetworkAt(this.#shared.network, ordinal);
      const client = await options.connect();
      const parts: NodeParts = {
        host: { ...this.#shared, nodeName: name, nodeNetwork, client },
        connectors: this.#connectors,
        ...(options.zone === undefined ? {} : { zone: options.zone }),
      };
      const node = await RunningNode.start(parts).catch(async (error: unknown) => {
        await client.close();
        throw error;
      });
      this.#running.set(name, node);
      this.#started.offer({ name });
    });
  }

  stopNode(name: string): Promise<void> {
    return this.#inTurn(async () => {
      this.#ordinalOf(name);
      const node = this.#running.get(name);
      this.#running.delete(name);
      await node?.powerOff();
    });
  }

  #ordinalOf(name: string): number {
    const ordinal = this.#options.nodes.findIndex((node) => node.name === name);
    if (ordinal >= 0) return ordinal;
    const known = this.#options.nodes.map((node) => node.name).join(', ');
    throw StatusError.of('NotFound', `nodes ${JSON.stringify(name)} not found; this machine has ${known}`);
  }

  async #inTurn(work: () => Promise<void>): Promise<void> {
    const done = this.#turn.then(work, work);
    this.#turn = done;
    await done;
  }

  #workers(): ReadonlyMap<string, PodWorkers> {
    if (this.#shared === undefined) throw new Error('the machine is not started');
    return new Map([...this.#running].map(([name, { workers }]) => [name, workers]));
  }

  #share(network: PlaneNetwork): Shared {
    const store = new ImageStore(this.#options.dataDirectory);
    const { world, log, dataDirectory, images } = this.#options;
    return {
      world,
      log,
      dataDirectory,
      network,
      clusterDomain: this.#clusterDomain,
      // Under the plane's own name: where we are killed in between, the group is removed with the plane.
      cgroups: detectCgroups(network.bridge),
      images: new ImageCatalogue({ programDirectory: images?.programDirectory ?? defaultProgramDirectory, store }),
      pulls: new ImagePulls(store, world, images?.skopeo),
      exits: this.#exits,
      logs: this.#logs,
      places: new PodPlaces(dataDirectory),
      events: this.#events,
      serviceEnvironment: (links) => serviceEnvironment(this.#table, links),
      isServed: (namespace, address) => this.#proxy.serves(namespace, address),
    };
  }

  async #listenDns(network: PlaneNetwork): Promise<DnsServer> {
    const { world } = this.#options;
    const ranges = [network.podRange, ...(network.serviceRange === undefined ? [] : [network.serviceRange])];
    const isClusterAddress = (address: string) => ranges.some((range) => isInRange(address, range));
    const zone = new ClusterZone(this.#clusterDomain, this.#table, isClusterAddress);
    const upstream = new Upstream(machineNameServers(), world.clock);
    return await DnsServer.listen({ zone, upstream, address: network.gateway });
  }
}

/** Events of a pod that is taken over before the first reconcile of pods are kept until then, so many of them. */
const earlyLimit = 1_000;

/** Workers outlive the reconciles that made them; the manager's recorder comes with the first. */
class LateRecorder implements EventRecorder {
  #recorder: EventRecorder | undefined;
  readonly #early: Parameters<EventRecorder['record']>[] = [];

  use(recorder: EventRecorder): void {
    this.#recorder = recorder;
    for (const [about, event] of this.#early.splice(0)) recorder.record(about, event);
  }

  record(about: Parameters<EventRecorder['record']>[0], event: EventNote): void {
    if (this.#recorder !== undefined) this.#recorder.record(about, event);
    else if (this.#early.length < earlyLimit) this.#early.push([about, event]);
  }
}
