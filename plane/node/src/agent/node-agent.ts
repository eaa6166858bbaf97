import type { Duplex } from 'node:stream';
import type { Client } from '@castellan/client';
import { StatusError } from '@castellan/machinery';
import type { Controller, EventNote, EventRecorder, Log, ReconcileContext } from '@castellan/runtime';
import type { Cancel, World } from '@castellan/world';
import { ClusterZone } from '../dns/cluster-zone.js';
import { DnsServer } from '../dns/dns-server.js';
import { machineNameServers } from '../dns/upstream.js';
import { ImageCatalogue } from '../images/image-catalogue.js';
import { orphanController, podController } from '../pods/pod-controller.js';
import { removeUnrecordedNetworks } from '../pods/pod-sandbox.js';
import type { PodWorker } from '../pods/pod-worker.js';
import { PodWorkers } from '../pods/pod-workers.js';
import { formatRange, isInRange } from '../sandbox/address-range.js';
import { detectCgroups } from '../sandbox/cgroups.js';
import type { StreamedProcess } from '../sandbox/container-exec.js';
import { ExitWatch } from '../sandbox/exit-watch.js';
import { LogClock } from '../sandbox/log-times.js';
import { connectTo, NamespaceConnectors } from '../sandbox/namespace-connector.js';
import { ensurePlaneNetwork, type PlaneNetwork } from '../sandbox/plane-network.js';
import { serviceController } from '../services/service-controller.js';
import { ServiceProxy } from '../services/service-proxy.js';
import { ServiceTable, serviceEnvironment } from '../services/service-table.js';
import { type LogRequest, readLog } from './container-logs.js';
import { type AttachRequest, attachTo, type ExecRequest, executeIn } from './container-streams.js';
import { stopAllPods } from './graceful-stop.js';
import { registerNode, renewLease, type reportNode } from './node-object.js';
import { removeEverything } from './remove-everything.js';

export interface NodeAgentOptions {
  readonly client: Client;
  readonly world: World;
  readonly log: Log;
  /** Pods' records, volumes and logs are below `pods/`; names on the machine follow from its path. */
  readonly dataDirectory: string;
  readonly nodeName: string;
  /** A /24 or larger; when something on the machine is in it, one of the ranges after it is taken and written down. */
  readonly podCidr?: string;
  /** Of this plane alone: two planes on one machine must not share it. Without it services have no addresses here. */
  readonly serviceCidr?: string;
  readonly clusterDomain?: string;
  /** Where the service `kubernetes` leads. */
  readonly apiServer: { readonly host: string; readonly port: number };
  readonly images?: { readonly programDirectory?: string };
}

/** Makes pods real on this machine: what kubelet, a container runtime, kube-proxy and cluster DNS do elsewhere. */
export interface NodeAgent {
  /** To be run by a manager; they do nothing before `start`. */
  readonly controllers: readonly Controller[];
  /** Prepares the network, DNS and the Node object, and begins its heartbeat. Pods that run already go on. */
  start(): Promise<StartedNode>;
  /**
   * After the manager has ended. `keep` leaves pods running for the next start to adopt. `stop` ends them (10 s to
   * comply), leaves volumes on disk for the next start, and removes all else from the machine.
   */
  stop(options: { readonly pods: 'keep' | 'stop' }): Promise<void>;
  /** Rejects with a StatusError when there is no such container, or it was never started. */
  logs(request: LogRequest, signal: AbortSignal): AsyncIterable<Uint8Array>;
  /** Runs a command in a container; `signal` kills it. Rejects with a StatusError when the container does not run. */
  execute(request: ExecRequest, signal: AbortSignal): Promise<StreamedProcess>;
  /** Joins a container's own program; `signal` leaves it. Rejects as `execute` does. */
  attach(request: AttachRequest, signal: AbortSignal): Promise<StreamedProcess>;
  /** Connects to a port of a pod: on its loopback, or at its address. */
  connect(request: ConnectRequest, signal: AbortSignal): Promise<Duplex>;
}

export interface StartedNode {
  /** Where pods reach the API server, besides service default/kubernetes; undefined where something else has that port. */
  readonly apiServer: { readonly address: string; readonly port: number } | undefined;
}

export interface ConnectRequest {
  readonly namespace: string;
  readonly pod: string;
  readonly port: number;
  readonly at: 'loopback' | 'address';
}

const leasePeriodMs = 10_000;
/** Every so many heartbeats the node's status is written too. */
const statusPeriod = 6;
const stopDeadlineMs = 10_000;

export function createNodeAgent(options: NodeAgentOptions): NodeAgent {
  return new Agent(options);
}

class Agent implements NodeAgent {
  readonly controllers: readonly Controller[];
  readonly #options: NodeAgentOptions;
  readonly #table = new ServiceTable();
  readonly #proxy: ServiceProxy;
  readonly #exits: ExitWatch;
  readonly #logClock: LogClock;
  readonly #events = new LateRecorder();
  readonly #connectors = new NamespaceConnectors();
  #workers: PodWorkers | undefined;
  #dns: DnsServer | undefined;
  #cancelHeartbeat: Cancel | undefined;
  #heartbeat: Promise<void> | undefined;
  #isStopped = false;

  constructor(options: NodeAgentOptions) {
    this.#options = options;
    this.#proxy = new ServiceProxy({ log: options.log, clock: options.world.clock, apiServer: options.apiServer });
    this.#exits = new ExitWatch(options.world);
    this.#logClock = new LogClock(options.world);
    const workers = (context: ReconcileContext) => this.#startedWorkers(context);
    this.controllers = [
      podController(workers),
      orphanController(options.nodeName, workers),
      serviceController(this.#table, this.#proxy),
    ];
  }

  async start(): Promise<StartedNode> {
    const { client, world, dataDirectory, nodeName, podCidr = '10.244.0.0/24', serviceCidr } = this.#options;
    const network = await ensurePlaneNetwork({
      dataDirectory,
      podCidr,
      ...(serviceCidr === undefined ? {} : { serviceCidr }),
    });
    await removeUnrecordedNetworks(dataDirectory, network);
    this.#proxy.use({ podRange: network.podRange, nodeAddresses: [network.gateway] });
    this.#dns = await this.#listenDns(network);
    const node = { name: nodeName, address: network.gateway, podCidr: formatRange(network.podRange) };
    await registerNode(client, world, node);
    this.#workers = new PodWorkers({
      client,
      world,
      log: this.#options.log,
      dataDirectory,
      nodeName,
      network,
      clusterDomain: this.#clusterDomain(),
      // Under the plane's own name: where we are killed in between, the group is removed with the plane.
      cgroups: detectCgroups(network.bridge),
      images: new ImageCatalogue({
        programDirectory: this.#options.images?.programDirectory ?? '/var/cache/castellan/programs',
      }),
      exits: this.#exits,
      logClock: this.#logClock,
      events: this.#events,
      serviceEnvironment: (namespace) => serviceEnvironment(this.#table, namespace),
    });
    this.#beat(node, 0);
    const apiServer = { address: network.gateway, port: this.#options.apiServer.port };
    return { apiServer: (await this.#proxy.openApiServer(network.gateway)) ? apiServer : undefined };
  }

  async stop({ pods }: { readonly pods: 'keep' | 'stop' }): Promise<void> {
    this.#isStopped = true;
    this.#cancelHeartbeat?.();
    await this.#heartbeat;
    await this.#workers?.close();
    this.#connectors.close();
    this.#exits.close();
    this.#logClock.close();
    if (pods === 'stop') await stopAllPods(this.#options.dataDirectory, this.#options.world, stopDeadlineMs);
    await this.#proxy.close();
    await this.#dns?.close();
    if (pods === 'stop') await removeEverything(this.#options.dataDirectory);
  }

  async *logs(request: LogRequest, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const { namespace, pod, container, previous } = request;
    const worker = this.#workers?.find({ namespace, name: pod });
    if (worker === undefined) throw StatusError.of('NotFound', `pod "${pod}" is not on node ${this.#options.nodeName}`);
    const source = worker.log(container, previous);
    if (source === undefined) {
      const why = previous
        ? `previous terminated container "${container}" in pod "${pod}" not found`
        : `container "${container}" in pod "${pod}" is waiting to start: ${worker.waitingReason(container)}`;
      throw StatusError.of('BadRequest', why);
    }
    yield* readLog(source, request, { world: this.#options.world, signal });
  }

  async execute(request: ExecRequest, signal: AbortSignal): Promise<StreamedProcess> {
    return await executeIn(this.#worker(request), request, signal);
  }

  async attach(request: AttachRequest, signal: AbortSignal): Promise<StreamedProcess> {
    return attachTo(this.#worker(request), request, { world: this.#options.world, signal });
  }

  async connect(request: ConnectRequest, signal: AbortSignal): Promise<Duplex> {
    const { network } = this.#worker(request);
    if (network === undefined) throw StatusError.of('InternalError', 'the pod has no network');
    if (request.at === 'address') return await connectTo(network.address, request.port, signal);
    return await this.#connectors.connect(network.namespace, request.port, signal);
  }

  #worker({ namespace, pod }: { readonly namespace: string; readonly pod: string }): PodWorker {
    const worker = this.#workers?.find({ namespace, name: pod });
    if (worker === undefined) throw StatusError.of('NotFound', 'pod does not exist');
    return worker;
  }

  #startedWorkers(context: ReconcileContext): PodWorkers {
    if (this.#workers === undefined || this.#isStopped) throw new Error('the node agent is not started');
    this.#events.use(context.events);
    return this.#workers;
  }

  async #listenDns(network: PlaneNetwork): Promise<DnsServer> {
    const { world } = this.#options;
    const ranges = [network.podRange, ...(network.serviceRange === undefined ? [] : [network.serviceRange])];
    const isClusterAddress = (address: string) => ranges.some((range) => isInRange(address, range));
    const zone = new ClusterZone(this.#clusterDomain(), this.#table, isClusterAddress);
    return await DnsServer.listen({ world, zone, address: network.gateway, upstream: machineNameServers() });
  }

  #clusterDomain(): string {
    return this.#options.clusterDomain ?? 'cluster.local';
  }

  #beat(node: Parameters<typeof reportNode>[2], count: number): void {
    if (this.#isStopped) return;
    const { client, world, log } = this.#options;
    const work = async () => {
      try {
        await renewLease(client, world, node.name);
        if (count % statusPeriod === statusPeriod - 1) await registerNode(client, world, node);
      } catch (error) {
        // Missed beats are what the node lifecycle is for; the next one comes by itself.
        log.warn('node heartbeat failed', { error: error instanceof Error ? error.message : String(error) });
      }
    };
    this.#heartbeat = work();
    this.#cancelHeartbeat = world.clock.after(leasePeriodMs, () => this.#beat(node, count + 1));
  }
}

/** Workers outlive the reconciles that made them; the manager's recorder comes with the first. */
class LateRecorder implements EventRecorder {
  #recorder: EventRecorder | undefined;

  use(recorder: EventRecorder): void {
    this.#recorder = recorder;
  }

  record(about: Parameters<EventRecorder['record']>[0], event: EventNote): void {
    this.#recorder?.record(about, event);
  }
}
