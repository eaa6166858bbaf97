import { createHash } from 'node:crypto';
import { mkdirSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type AddressRange, addressAt, formatRange, parseRange, rangeAfter, rangesOverlap } from './address-range.js';
import { requireCommand } from './command.js';
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

export interface PlaneNetworkOptions {
  readonly dataDirectory: string;
  /** Taken when nothing on the machine is in it; else one of the ranges after it. The choice is written down. */
  readonly podCidr: string;
  readonly serviceCidr?: string;
}

const rangesToTry = 16;
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
  const podRange = recorded ?? freeRange(parseRange(options.podCidr), taken);
  if (serviceRange !== undefined) refuseTaken('service range', serviceRange, taken);
  const network = { bridge, podRange, serviceRange, gateway: addressAt(podRange, 1) };
  writeRecord(recordPath(options.dataDirectory), { bridge, podCidr: formatRange(podRange) });
  await ensureBridge(network);
  return network;
}

/** Removes the bridge, and with it its addresses and routes. */
export async function removePlaneNetwork(dataDirectory: string): Promise<void> {
  const bridge = bridgeName(dataDirectory);
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
  if (!hasDevice(bridge)) await requireCommand('ip', ['link', 'add', bridge, 'type', 'bridge']);
  const commands = [
    `address replace ${gateway}/${podRange.prefixLength} dev ${bridge}`,
    `link set ${bridge} up`,
    ...(serviceRange === undefined ? [] : [`route replace local ${formatRange(serviceRange)} dev ${bridge}`]),
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
