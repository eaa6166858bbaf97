import type { Duplex } from 'node:stream';
import type { Client } from '@castellan/client';
import { StatusError } from '@castellan/machinery';
import type { Cancel } from '@castellan/world';
import type { PodHost } from '../pods/pod-host.js';
import type { PodWorker } from '../pods/pod-worker.js';
import { PodWorkers } from '../pods/pod-workers.js';
import { formatRange } from '../sandbox/address-range.js';
import type { StreamedProcess } from '../sandbox/container-exec.js';
import { connectTo, type NamespaceConnectors } from '../sandbox/namespace-connector.js';
import { addNodeAddress, removeNodeAddress } from '../sandbox/plane-network.js';
import { type LogRequest, readLog } from './container-logs.js';
import { type AttachRequest, attachTo, type ExecRequest, executeIn } from './container-streams.js';
import { type NodeDescription, registerNode, renewLease } from './node-object.js';
import { powerOff } from './power-off.js';

/** One of the machine's nodes, as long as it runs: what the API server asks a kubelet for. */
export interface NodeAgent {
  /** Rejects with a StatusError when there is no such container, or it was never started. */
  logs(request: LogRequest, signal: AbortSignal): AsyncIterable<Uint8Array>;
  /** Runs a command in a container; `signal` kills it. Rejects with a StatusError when the container does not run. */
  execute(request: ExecRequest, signal: AbortSignal): Promise<StreamedProcess>;
  /** Joins a container's own program; `signal` leaves it. Rejects as `execute` does. */
  attach(request: AttachRequest, signal: AbortSignal): Promise<StreamedProcess>;
  /** Connects to a port of a pod: on its loopback, or at its address. */
  connect(request: ConnectRequest, signal: AbortSignal): Promise<Duplex>;
}

export interface ConnectRequest {
  readonly namespace: string;
  readonly pod: string;
  readonly port: number;
  readonly at: 'loopback' | 'address';
}

export interface NodeOptions {
  /** Of its Node object, and its pods. */
  readonly name: string;
  /** Its label topology.kubernetes.io/zone. */
  readonly zone?: string;
  /** Whether it is off when the machine starts, until `startNode`. */
  readonly isStopped?: boolean;
  /** A connection as the node itself, `system:node:NAME`; it is closed when the node stops. */
  connect(): Promise<Client>;
}

export interface NodeParts {
  readonly host: PodHost;
  readonly connectors: NamespaceConnectors;
  readonly zone?: string;
}

const leasePeriodMs = 10_000;
/** Every so many heartbeats the node's status is written too. */
const statusPeriod = 6;

/** A node that runs: its workers, its Node object and its heartbeat. */
export class RunningNode implements NodeAgent {
  readonly workers: PodWorkers;
  readonly #host: PodHost;
  readonly #description: NodeDescription;
  readonly #connectors: NamespaceConnectors;
  #cancelHeartbeat: Cancel | undefined;
  #heartbeat: Promise<void> | undefined;
  #isStopped = false;

  private constructor({ host, connectors, zone }: NodeParts) {
    const { nodeName: name, nodeNetwork } = host;
    this.#host = host;
    this.#connectors = connectors;
    this.#description = {
      name,
      address: nodeNetwork.address,
      podCidr: formatRange(nodeNetwork.podRange),
      ...(zone === undefined ? {} : { zone }),
    };
    this.workers = new PodWorkers(host);
  }

  /** Resolves when the Node object says that it is ready. Pods that run already go on. */
  static async start(parts: NodeParts): Promise<RunningNode> {
    const { client, world, network, nodeNetwork } = parts.host;
    await addNodeAddress(network, nodeNetwork);
    const node = new RunningNode(parts);
    await registerNode(client, world, node.#description);
    node.#beat(0);
    return node;
  }

  /** Leaves its pods as they are. */
  async close(): Promise<void> {
    await this.#endHeartbeat();
    await this.workers.close();
    await this.#host.client.close();
  }

  /** As a loss of power: nobody outside is told, processes are gone, files stay. */
  async powerOff(): Promise<void> {
    const { client, dataDirectory, nodeName, network, nodeNetwork } = this.#host;
    const heartbeat = this.#endHeartbeat();
    const closing = this.workers.close();
    const closed = client.close();
    await powerOff(dataDirectory, nodeName);
    await Promise.all([heartbeat, closing, closed]);
    // What a worker was about to start when it was told to stop.
    await powerOff(dataDirectory, nodeName);
    await removeNodeAddress(network, nodeNetwork);
  }

  async *logs(request: LogRequest, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const { namespace, pod, container, previous } = request;
    const worker = this.workers.find({ namespace, name: pod });
    if (worker === undefined) throw StatusError.of('NotFound', `pod "${pod}" is not on node ${this.#description.name}`);
    const source = worker.log(container, previous);
    if (source === undefined) {
      const why = previous
        ? `previous terminated container "${container}" in pod "${pod}" not found`
        : `container "${container}" in pod "${pod}" is waiting to start: ${worker.waitingReason(container)}`;
      throw StatusError.of('BadRequest', why);
    }
    yield* readLog(source, request, { world: this.#host.world, signal });
  }

  async execute(request: ExecRequest, signal: AbortSignal): Promise<StreamedProcess> {
    return await executeIn(this.#worker(request), request, signal);
  }

  async attach(request: AttachRequest, signal: AbortSignal): Promise<StreamedProcess> {
    return attachTo(this.#worker(request), request, { world: this.#host.world, signal });
  }

  async connect(request: ConnectRequest, signal: AbortSignal): Promise<Duplex> {
    const { network } = this.#worker(request);
    if (network === undefined) throw StatusError.of('InternalError', 'the pod has no network');
    if (request.at === 'address') return await connectTo(network.address, request.port, signal);
    return await this.#connectors.connect(network.namespace, request.port, signal);
  }

  #worker({ namespace, pod }: { readonly namespace: string; readonly pod: string }): PodWorker {
    const worker = this.workers.find({ namespace, name: pod });
    if (worker === undefined) throw StatusError.of('NotFound', 'pod does not exist');
    return worker;
  }

  async #endHeartbeat(): Promise<void> {
    this.#isStopped = true;
    this.#cancelHeartbeat?.();
    await this.#heartbeat;
  }

  #beat(count: number): void {
    if (this.#isStopped) return;
    const { client, world, log } = this.#host;
    const work = async () => {
      try {
        await renewLease(client, world, this.#description.name);
        if (count % statusPeriod === statusPeriod - 1) await registerNode(client, world, this.#description);
      } catch (error) {
        if (this.#isStopped) return;
        // Missed beats are what the node lifecycle is for; the next one comes by itself.
        log.warn('node heartbeat failed', { error: error instanceof Error ? error.message : String(error) });
      }
    };
    this.#heartbeat = work();
    this.#cancelHeartbeat = world.clock.after(leasePeriodMs, () => this.#beat(count + 1));
  }
}
