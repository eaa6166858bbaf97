import type { Client } from '@castellan/client';
import {
  claimsOfPod,
  formatKey,
  isStatusError,
  keyOf,
  type Node,
  nodes,
  type ObjectKey,
  type Pod,
  persistentVolumeClaims,
  pods,
} from '@castellan/machinery';
import { localStorageControllers } from '@castellan/node';
import { type Controller, type Log, type Reader, watchSource } from '@castellan/runtime';
import type { World } from '@castellan/world';
import { type NodePace, SimulatedPod } from './simulated-pod.js';
import type { ProgramOf } from './simulated-program.js';
import type { SimulatedDisk, SimulatedVolumes } from './simulated-volumes.js';

export interface SimulatedNodesOptions {
  readonly client: Client;
  readonly world: World;
  readonly log: Log;
  readonly names: readonly string[];
  readonly volumes: SimulatedVolumes;
  readonly programOf?: ProgramOf;
  readonly pace?: Partial<NodePace>;
}

const defaultPace: NodePace = {
  setUpMs: [50, 200],
  startMs: [20, 200],
  initMs: [50, 300],
  probeMs: [100, 1_000],
  endMs: [20, 500],
};

/**
 * Node agents with simulated programs: pods that are bound to their nodes start, become ready, restart and end as on a real
 * node of ours, in simulated time; volumes are made for claims of the classes `local` and `local-immediate`. They send no
 * heartbeats, and give pods no network, files or tokens.
 */
export class SimulatedNodes {
  readonly controllers: readonly Controller[];
  readonly #options: SimulatedNodesOptions;
  readonly #pods = new Map<string, SimulatedPod>();
  readonly #down = new Set<string>();
  #addresses = 1;

  constructor(options: SimulatedNodesOptions) {
    this.#options = options;
    const agents: Controller = {
      name: 'simulated-nodes',
      for: pods,
      // Only to know them.
      watches: [watchSource({ type: persistentVolumeClaims, map: () => [] })],
      reconcile: async (key, context) => {
        this.#update(key, context.cache.get(pods, key), context.cache);
        return undefined;
      },
    };
    const runningNodes = () => options.names.filter((name) => !this.#down.has(name));
    this.controllers = [agents, ...localStorageControllers({ volumes: options.volumes, runningNodes })];
  }

  get names(): readonly string[] {
    return this.#options.names;
  }

  /** Makes the Node objects, where they are not there yet. */
  async register(): Promise<void> {
    for (const [index, name] of this.#options.names.entries()) await this.#register(name, index);
  }

  /** Ends the program of a container as by itself. */
  exit(pod: ObjectKey, container: string, code = 137): void {
    if (!this.exitIfRunning(pod, container, code)) {
      throw new Error(`container ${container} of pod ${formatKey(pod)} does not run; next: wait until it does`);
    }
  }

  /** As `exit`; `false` where the container does not run. */
  exitIfRunning(pod: ObjectKey, container: string, code = 137): boolean {
    return this.#find(pod)?.exit(container, code) === true;
  }

  /** Empties the volumes of a pod under its programs. */
  loseDisk(pod: ObjectKey): void {
    const found = this.#find(pod);
    if (found === undefined) throw new Error(`pod ${formatKey(pod)} is on no simulated node`);
    found.loseDisk();
  }

  /** The machine stops, and with it every pod on it; their objects stay as they are. */
  powerOff(node: string): void {
    this.#require(node);
    this.#down.add(node);
    for (const pod of this.#on(node)) pod.powerOff();
  }

  powerOn(node: string): void {
    this.#require(node);
    this.#down.delete(node);
    for (const pod of this.#on(node)) pod.powerOn();
  }

  #update(key: ObjectKey, pod: Pod | undefined, cache: Reader): void {
    const name = formatKey(key);
    for (const known of this.#pods.values()) {
      const isOther = formatKey(keyOf(known.pod)) === name && known.pod.metadata.uid !== pod?.metadata.uid;
      if (isOther) known.update(undefined);
    }
    const index = this.#options.names.indexOf(pod?.spec?.nodeName ?? '');
    const uid = pod?.metadata.uid;
    if (pod === undefined || index < 0 || uid === undefined) return;
    const known = this.#pods.get(uid);
    if (known !== undefined) {
      known.update(pod);
      return;
    }
    const { client, world, log, programOf = () => undefined, pace } = this.#options;
    this.#addresses += 1;
    const host = {
      client,
      world,
      hostIp: addressOf(index),
      podIp: podAddress(index, this.#addresses),
      pace: { ...defaultPace, ...pace },
      programOf,
      ended: () => this.#pods.delete(uid),
      failed: (error: string) => log.warn('pod sync failed', { error }),
    };
    const made = new SimulatedPod(host, pod, this.#diskOf(pod, cache));
    this.#pods.set(uid, made);
    if (this.#down.has(pod.spec?.nodeName ?? '')) made.powerOff();
  }

  /** That of its first claim, where it has one; else its own, which goes with it. */
  #diskOf(pod: Pod, cache: Reader): SimulatedDisk {
    const [claim] = claimsOfPod(pod).flatMap((key) => cache.get(persistentVolumeClaims, key) ?? []);
    return this.#options.volumes.disk(claim?.spec?.volumeName ?? '') ?? new Map();
  }

  async #register(name: string, index: number): Promise<void> {
    const { client, world } = this.#options;
    const node: Node = {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: {
        name,
        labels: { 'kubernetes.io/hostname': name, 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': 'amd64' },
      },
      spec: { podCIDR: `${podAddress(index, 0)}/16`, podCIDRs: [`${podAddress(index, 0)}/16`] },
    };
    try {
      await client.create(nodes, node);
    } catch (error) {
      if (!isStatusError(error, 'AlreadyExists')) throw error;
    }
    const resources = { cpu: '16', memory: '64Gi', pods: '110' };
    const now = `${new Date(world.clock.now()).toISOString().slice(0, 19)}Z`;
    const ready = {
      type: 'Ready',
      status: 'True',
      reason: 'KubeletReady',
      message: 'the simulated node runs',
    } as const;
    const status = {
      capacity: resources,
      allocatable: resources,
      addresses: [
        { type: 'InternalIP', address: addressOf(index) },
        { type: 'Hostname', address: name },
      ],
      conditions: [{ ...ready, lastHeartbeatTime: now, lastTransitionTime: now }],
    };
    await client.patch(nodes, { name }, { type: 'merge', body: { status } }, { subresource: 'status' });
  }

  #find(key: ObjectKey): SimulatedPod | undefined {
    const name = formatKey(key);
    return [...this.#pods.values()].filter(({ pod }) => formatKey(keyOf(pod)) === name).at(-1);
  }

  #on(node: string): readonly SimulatedPod[] {
    return [...this.#pods.values()].filter(({ pod }) => pod.spec?.nodeName === node);
  }

  #require(node: string): void {
    if (this.#options.names.includes(node)) return;
    throw new Error(`no simulated node is named ${node}; next: name one of ${this.#options.names.join(', ')}`);
  }
}

/** Room for 65,000 pods, one after the other: no address is used twice. */
function podAddress(node: number, pod: number): string {
  return `10.${100 + node}.${pod >> 8}.${pod & 255}`;
}

function addressOf(index: number): string {
  return `10.0.0.${index + 1}`;
}
