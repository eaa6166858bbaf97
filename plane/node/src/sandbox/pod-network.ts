import { existsSync, statSync } from 'node:fs';
import { addressAt, hardwareAddressOf, rangeSize } from './address-range.js';
import { requireCommand, runCommand } from './command.js';
import { hasDevice } from './network-device.js';
import { bridgeName, type NodeNetwork, type PlaneNetwork } from './plane-network.js';
import { processesInNetworks, signalProcess } from './process-identity.js';

/** A pod's place in the plane's network. The names follow from `index`, so writing that down is enough to clean up. */
export interface PodNetwork {
  /** The pod's address, counted from the base of the pod range. */
  readonly index: number;
  readonly address: string;
  /** Of the namespace, as `ip netns` shows it. */
  readonly namespace: string;
}

/** Before it are the base of the node's range and the node's own address. */
const firstPodIndex = 2;
/** Held by `ip netns` until the namespace is deleted, so no process has to keep it alive. */
const namespaceDirectory = '/run/netns';

export function podNetworkAt(network: PlaneNetwork, index: number): PodNetwork {
  return { index, address: addressAt(network.podRange, index), namespace: `${network.bridge}-${index}` };
}

/** The lowest index of the node's range that is not in use; its first two and its last address are never given away. */
export function freePodIndex(network: PlaneNetwork, node: NodeNetwork, used: ReadonlySet<number>): number {
  const start = node.podRange.base - network.podRange.base;
  const end = start + rangeSize(node.podRange) - 1;
  for (let index = start + firstPodIndex; index < end; index += 1) if (!used.has(index)) return index;
  throw new Error(`all ${end - start - firstPodIndex} pod addresses of the node are in use; next: delete pods`);
}

/** Where the kernel would give a device an address of its own by which pods reach each other past services and network policies. */
const hasInternet6 = existsSync('/proc/sys/net/ipv6');

/** Makes a namespace with loopback and eth0 joined to the bridge. Must not exist yet. */
export async function createPodNetwork(network: PlaneNetwork, pod: PodNetwork): Promise<void> {
  const device = deviceName(network.bridge, pod.index);
  const outside = [
    `netns add ${pod.namespace}`,
    `link add ${device} type veth peer name eth0 address ${hardwareAddressOf(pod.address)} netns ${pod.namespace}`,
    `link set ${device} master ${network.bridge} up`,
    // A pod may reach itself by a service: then a frame goes back where it came from.
    `link set ${device} type bridge_slave hairpin on`,
  ];
  const inside = [
    'link set lo up',
    ...(hasInternet6 ? ['link set eth0 addrgenmode none'] : []),
    `address add ${pod.address}/${network.podRange.prefixLength} dev eth0`,
    'link set eth0 up',
    `route add default via ${network.gateway}`,
  ];
  // One program to be started from here, which is what costs: a shell starts the two of them in a fraction of the time.
  const script = [
    ...['ip -batch - <<outside &&', ...outside, 'outside'],
    ...[`exec ip -netns ${pod.namespace} -batch - <<inside`, ...inside, 'inside'],
  ];
  await requireCommand('/bin/sh', ['-s'], { input: `${script.join('\n')}\n` });
}

/** Whether the namespace is there with its address: an agent may have been killed half-way, or the machine restarted. */
export async function isPodNetworkWhole(network: PlaneNetwork, pod: PodNetwork): Promise<boolean> {
  if (networkInode(pod.namespace) === undefined) return false;
  if (!hasDevice(deviceName(network.bridge, pod.index))) return false;
  const inside = await runCommand('ip', ['-netns', pod.namespace, '-4', '-o', 'route', 'show', 'default']);
  return inside.exitCode === 0 && inside.stdout.includes(network.gateway);
}

/** A quick look at whether the namespace has its name: somebody may have deleted it. */
export function isPodNetworkThere({ namespace }: PodNetwork): boolean {
  return networkInode(namespace) !== undefined;
}

/** What a pod's network is found by. */
export type PodNetworkName = Pick<PodNetwork, 'namespace' | 'index'>;

/** Kills what still runs in the namespace and removes it; the pod's device goes with it. May be called again. */
export async function removePodNetwork(pod: PodNetworkName, bridge: string): Promise<void> {
  await removePodNetworks([pod], bridge);
}

/** As `removePodNetwork`, for many at once. */
export async function removePodNetworks(pods: readonly PodNetworkName[], bridge: string): Promise<void> {
  const present = pods.flatMap(({ namespace }) => {
    const inode = networkInode(namespace);
    return inode === undefined ? [] : [{ namespace, inode }];
  });
  if (present.length > 0) {
    const inodes = new Set(present.map(({ inode }) => inode));
    for (const process of processesInNetworks(inodes)) signalProcess(process, 'SIGKILL');
    const commands = present.map(({ namespace }) => `netns delete ${namespace}`);
    await requireCommand('ip', ['-batch', '-'], { input: `${commands.join('\n')}\n` });
  }
  // A namespace that a dying process still holds keeps its device for a moment: the name must be free for the next pod.
  const devices = pods.map(({ index }) => deviceName(bridge, index)).filter(hasDevice);
  if (devices.length === 0) return;
  const commands = devices.map((device) => `link delete ${device}`);
  await runCommand('ip', ['-force', '-batch', '-'], { input: `${commands.join('\n')}\n` });
}

/** Every namespace that was made for this data directory, recorded or not. */
export async function leftNamespaces(dataDirectory: string): Promise<readonly PodNetworkName[]> {
  const prefix = `${bridgeName(dataDirectory)}-`;
  const listing = await requireCommand('ip', ['netns', 'list']);
  return listing.split('\n').flatMap((line) => {
    const namespace = line.split(' ')[0] ?? '';
    return namespace.startsWith(prefix) ? [{ namespace, index: Number(namespace.slice(prefix.length)) }] : [];
  });
}

export function namespacePath(namespace: string): string {
  return `${namespaceDirectory}/${namespace}`;
}

/** The number that /proc/PID/ns/net shows for processes in the namespace; `undefined` when there is none. */
function networkInode(namespace: string): number | undefined {
  return statSync(namespacePath(namespace), { throwIfNoEntry: false })?.ino;
}

function deviceName(bridge: string, index: number): string {
  return `${bridge}v${index}`;
}
