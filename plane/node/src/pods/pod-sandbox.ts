import type { Pod } from '@castellan/machinery';
import { removePodCgroups } from '../sandbox/cgroups.js';
import { unmountBelow } from '../sandbox/mount-points.js';
import type { PlaneNetwork } from '../sandbox/plane-network.js';
import {
  createPodNetwork,
  freePodIndex,
  isPodNetworkThere,
  isPodNetworkWhole,
  leftNamespaces,
  type PodNetwork,
  podNetworkAt,
  removePodNetwork,
  removePodNetworks,
} from '../sandbox/pod-network.js';
import { PodDirectory, podsOnDisk } from './pod-directory.js';
import type { PodHost } from './pod-host.js';
import { cutPod } from './recorded-processes.js';
import { setSysctls } from './sysctls.js';

/** A pod's files and network, written down before they are made. */
export class PodSandbox {
  readonly directory: PodDirectory;
  readonly #host: PodHost;
  #network: PodNetwork | undefined;
  #startedAtMs: number | undefined;

  constructor(host: PodHost, uid: string) {
    this.#host = host;
    this.directory = new PodDirectory(host.dataDirectory, uid);
  }

  /** `undefined` until `ensure` has made it. */
  get network(): PodNetwork | undefined {
    return this.#network;
  }

  /** Where the pod's processes are, or were, if it was ever begun. */
  recordedNetwork(): PodNetwork | undefined {
    const record = this.directory.read();
    return record === undefined ? undefined : podNetworkAt(this.#host.network, record.networkIndex);
  }

  get startedAtMs(): number {
    this.#startedAtMs ??= this.directory.read()?.startedAtMs;
    return this.#startedAtMs ?? this.#host.world.clock.now();
  }

  /** Where the pod will be, decided and written down here if it was not before. */
  address(pod: Pod): string {
    return podNetworkAt(this.#host.network, this.#index(pod)).address;
  }

  /** Finds or makes the pod's network. The address is the same as before, if there was one. */
  async ensure(pod: Pod): Promise<PodNetwork> {
    if (this.#network !== undefined && !this.isLost()) return this.#network;
    const network = podNetworkAt(this.#host.network, this.#index(pod));
    if (!(await isPodNetworkWhole(this.#host.network, network))) {
      await removePodNetwork(network, this.#host.network.bridge);
      await createPodNetwork(this.#host.network, network);
      await setSysctls(pod, network.namespace);
    }
    this.#network = network;
    return network;
  }

  /** The network was there, and somebody has taken it away. */
  isLost(): boolean {
    return this.#network !== undefined && !isPodNetworkThere(this.#network);
  }

  /** Kills what runs in the network and removes it; files stay. */
  async removeNetwork(): Promise<void> {
    this.#network = undefined;
    const recorded = this.recordedNetwork();
    if (recorded !== undefined) await removePodNetwork(recorded, this.#host.network.bridge);
  }

  /** Removes the pod's files, volumes included. */
  async remove(): Promise<void> {
    await removeFiles(this.directory);
    this.#host.places.release(this.directory.uid);
  }

  /** The record is written before this returns, with no pause in between: two pods never get one index. */
  #index(pod: Pod): number {
    const known = this.directory.read();
    if (known !== undefined) return known.networkIndex;
    const { network, nodeNetwork, places } = this.#host;
    const networkIndex = places.take(this.directory.uid, (used) => freePodIndex(network, nodeNetwork, used));
    this.directory.write({
      uid: pod.metadata.uid ?? '',
      namespace: pod.metadata.namespace ?? '',
      name: pod.metadata.name ?? '',
      node: this.#host.nodeName,
      networkIndex,
      startedAtMs: this.#host.world.clock.now(),
    });
    return networkIndex;
  }
}

const groupLooks = 100;
const groupLookMs = 5;

/** After the last kill of a pod's processes: the kernel takes a moment to empty their control groups. */
export async function removePodGroups({ cgroups, network, world, log }: PodHost, uid: string): Promise<void> {
  for (let look = 0; look < groupLooks; look += 1) {
    if (removePodCgroups(cgroups, { plane: network.bridge, pod: uid })) return;
    await world.clock.sleep(groupLookMs);
  }
  log.warn('control groups of a pod still have processes; they are removed with the plane', { uid });
}

/** Ends what is left of a pod that the API server no longer knows. */
export async function removeOrphan(host: PodHost, directory: PodDirectory): Promise<void> {
  const record = directory.read();
  const { network } = host;
  cutPod(directory, network.bridge);
  if (record !== undefined) await removePodNetwork(podNetworkAt(network, record.networkIndex), network.bridge);
  await removePodGroups(host, directory.uid);
  await removeFiles(directory);
  host.places.release(directory.uid);
}

/** What lives in memory is mounted in the pod's directory. */
async function removeFiles(directory: PodDirectory): Promise<void> {
  await unmountBelow(directory.path);
  directory.remove();
}

/** Removes what no pod's record names: of an agent that was killed at work, or whose files were lost. */
export async function removeUnrecorded(dataDirectory: string, network: PlaneNetwork): Promise<void> {
  const recorded = new Set<number>();
  for (const directory of podsOnDisk(dataDirectory)) {
    const record = directory.read();
    if (record === undefined) directory.remove();
    else recorded.add(record.networkIndex);
  }
  const left = await leftNamespaces(dataDirectory);
  await removePodNetworks(
    left.filter(({ index }) => !recorded.has(index)),
    network.bridge,
  );
}
