import { createHash } from 'node:crypto';
import { mkdirSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { removeNftTables } from '../nftables/nft-table.js';
import {
  type AddressRange,
  addressAt,
  formatRange,
  hardwareAddressOf,
  parseRange,
  rangeAfter,
  rangeSize,
  rangesOverlap,
} from './address-range.js';
import { requireCommand, runCommand } from './command.js';
import { hasDevice } from './network-device.js';
import { readRecord, writeRecord } from './record-file.js';

/**
 * The network of one plane: a bridge with the gateway's address, to which each pod's namespace is joined, and a local
 * route for the whole service range, so that the plane's process can listen on any service address.
 * Everything is named after the data directory, so two planes on one machine never touch each other's.
 */
export interface PlaneNetwork {
  /** Of the bridge; at most nine characters, pods' devices are named after it. */
  readonly bridge: string;
  readonly podRange: AddressRange;
  readonly serviceRange: AddressRange | undefined;
  /** The first address of the pod range: the bridge, the pods' default route and their name server. */
  readonly gateway: string;
}

/** A node's part of the network. The bridge joins all pods, so those of several nodes reach each other as those of one do. */
export interface NodeNetwork {
  /** Of its pods. The first address is the node's own. */
  readonly podRange: AddressRange;
  /** Where pods reach the node, and with it the machine. */
  readonly address: string;
}

export interface PlaneNetworkOptions {
  readonly dataDirectory: string;
  /** Taken when nothing on the machine is in it; else one of the ranges after it. The choice is written down. */
  readonly podCidr: string;
  readonly serviceCidr?: string;
}

const rangesToTry = 16;
/** As kube-controller-manager's `--node-cidr-mask-size`: 253 pods. */
const nodePrefixLength = 24;
/** A wider route of the machine (10.0.0.0/8 to a company's network, say) may be narrowed by ours; this and less may not. */
const widestConflict = 16;

/** Makes what is missing of the plane's network; may be called again at any time. */
export async function ensurePlaneNetwork(options: PlaneNetworkOptions): Promise<PlaneNetwork> {
  mkdirSync(options.dataDirectory, { recursive: true });
  const bridge = bridgeName(options.dataDirectory);
  const serviceRange = options.serviceCidr === undefined ? undefined : parseRange(options.serviceCidr);
  const taken = await rangesOnMachine(bridge);
  const recorded = recordedRange(options.dataDirectory);
  // While the bridge is there the range is ours, and pods have addresses in it.
  if (recorded !== undefined && !hasDevice(bridge)) refuseTaken('pod range', recorded, taken);
  const alsoTaken = serviceRange === undefined ? taken : [...taken, serviceRange];
  const podRange = recorded ?? freeRange(parseRange(options.podCidr), alsoTaken);
  if (serviceRange !== undefined) refuseTaken('service range', serviceRange, taken);
  const network = { bridge, podRange, serviceRange, gateway: addressAt(podRange, 1) };
  writeRecord(recordPath(options.dataDirectory), { bridge, podCidr: formatRange(podRange) });
  await ensureBridge(network);
  return network;
}

/** The `ordinal`th /24 of the pod range; the whole of a pod range that is smaller. */
export function nodeNetworkAt({ podRange }: PlaneNetwork, ordinal: number): NodeNetwork {
  const prefixLength = Math.max(nodePrefixLength, podRange.prefixLength);
  const range = rangeAfter({ base: podRange.base, prefixLength }, ordinal);
  if (!rangesOverlap(range, podRange)) {
    const room = rangeSize(podRange) / rangeSize(range);
    throw new Error(
      `the pod range ${formatRange(podRange)} has room for ${room} ${room === 1 ? 'node' : 'nodes'}; next: run so many at most, or choose a new data directory`,
    );
  }
  return { podRange: range, address: addressAt(range, 1) };
}

/** Gives the bridge the node's address. */
export async function addNodeAddress({ bridge, gateway }: PlaneNetwork, { address }: NodeNetwork): Promise<void> {
  if (address !== gateway) await requireCommand('ip', ['address', 'replace', `${address}/32`, 'dev', bridge]);
}

/** The gateway stays: pods of all nodes go by it. May be called again. */
export async function removeNodeAddress({ bridge, gateway }: PlaneNetwork, { address }: NodeNetwork): Promise<void> {
  if (address !== gateway) await runCommand('ip', ['address', 'delete', `${address}/32`, 'dev', bridge]);
}

/** Removes the bridge, and with it its addresses and routes. */
export async function removePlaneNetwork(dataDirectory: string): Promise<void> {
  const bridge = bridgeName(dataDirectory);
  await removeNftTables(bridge);
  if (hasDevice(bridge)) await requireCommand('ip', ['link', 'delete', bridge]);
}

export function forgetPlaneNetwork(dataDirectory: string): void {
  rmSync(recordPath(dataDirectory), { force: true });
}

/** The name follows from the directory alone, so that what a crashed plane left can be found without its records. */
export function bridgeName(dataDirectory: string): string {
  const hash = createHash('sha256').update(realpathSync(dataDirectory)).digest('hex');
  return `cas${hash.slice(0, 6)}`;
}

async function ensureBridge(network: PlaneNetwork): Promise<void> {
  const { bridge, podRange, serviceRange, gateway } = network;
  // A bridge without an address of its own takes that of one of its ports, another one whenever pods come or go.
  const hardwareAddress = hardwareAddressOf(gateway);
  if (!hasDevice(bridge)) {
    await requireCommand('ip', ['link', 'add', bridge, 'address', hardwareAddress, 'type', 'bridge']);
  }
  const commands = [
    `address replace ${gateway}/${podRange.prefixLength} dev ${bridge}`,
    `link set ${bridge} up`,
    ...(serviceRange === undefined
      ? []
      : [`route replace local ${formatRange(serviceRange)} dev ${bridge} src ${gateway}`]),
  ];
  await requireCommand('ip', ['-batch', '-'], { input: `${commands.join('\n')}\n` });
}

function refuseTaken(what: string, range: AddressRange, taken: readonly AddressRange[]): void {
  if (!taken.some((other) => rangesOverlap(range, other))) return;
  throw new Error(
    `${what} ${formatRange(range)} is in use on this machine; next: stop the other plane, or whatever has that route (see \`ip route\`)`,
  );
}

function freeRange(preferred: AddressRange, taken: readonly AddressRange[]): AddressRange {
  for (let step = 0; step < rangesToTry; step += 1) {
    const range = rangeAfter(preferred, step);
    if (!taken.some((other) => rangesOverlap(range, other))) return range;
  }
  throw new Error(
    `${formatRange(preferred)} and the ${rangesToTry - 1} ranges after it are in use on this machine (see \`ip route\`); next: choose another pod range`,
  );
}

/** Every range that the machine routes somewhere, our own bridge and wide routes excepted. */
async function rangesOnMachine(ownBridge: string): Promise<readonly AddressRange[]> {
  const routes: unknown = JSON.parse(await requireCommand('ip', ['-4', '-json', 'route', 'show', 'table', 'all']));
  if (!Array.isArray(routes)) return [];
  return routes.flatMap((route: unknown) => {
    if (typeof route !== 'object' || route === null || !('dst' in route) || typeof route.dst !== 'string') return [];
    if (route.dst === 'default' || ('dev' in route && route.dev === ownBridge)) return [];
    const range = parseRange(route.dst);
    return range.prefixLength < widestConflict ? [] : [range];
  });
}

function recordedRange(dataDirectory: string): AddressRange | undefined {
  const record = readRecord(recordPath(dataDirectory));
  const isRecord =
    typeof record === 'object' && record !== null && 'podCidr' in record && typeof record.podCidr === 'string';
  return isRecord ? parseRange(String(record.podCidr)) : undefined;
}

function recordPath(dataDirectory: string): string {
  return join(dataDirectory, 'network.json');
}
