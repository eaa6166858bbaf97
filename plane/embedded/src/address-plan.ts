import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { claimRange, type Release } from './range-claim.js';

/** The address ranges of one plane. They are written down at the first start: services and pods keep their addresses. */
export interface AddressPlan {
  /** A /20 for pods, of which each node has a /24; its first address is the bridge's. */
  readonly podCidr: string;
  /** A /20 for services; its first address is the service `kubernetes`. */
  readonly serviceCidr: string;
}

export interface ClaimedPlan {
  readonly plan: AddressPlan;
  /** To be called when the plane has stopped: until then no other plane of the machine chooses the same. */
  readonly release: Release;
}

const slots = 100;

/**
 * Each plane on a machine gets 10.(100+n).0.0/16 of its own, so that several run side by side: n follows from the data
 * directory, unless an interface of the machine is in that range already, or another plane starts with it now.
 */
export async function ensureAddressPlan(dataDirectory: string): Promise<ClaimedPlan> {
  const file = join(dataDirectory, 'addresses.json');
  const written = await readFile(file, 'utf8').catch(() => undefined);
  if (written !== undefined) {
    const plan = parsePlan(written, file);
    // Whether another plane has its addresses meanwhile is judged when they are made.
    return { plan, release: (await claimRange(plan.podCidr)) ?? (async () => undefined) };
  }
  const claimed = await claimFirst(freePlans(dataDirectory, addressesInUse()));
  await mkdir(dataDirectory, { recursive: true });
  await writeFile(file, `${JSON.stringify(claimed.plan, null, 2)}\n`);
  return claimed;
}

/** Those in which the machine has no address, the preferred one first. */
export function freePlans(dataDirectory: string, inUse: readonly string[]): readonly AddressPlan[] {
  const preferred = createHash('sha256').update(dataDirectory).digest().readUInt16BE(0) % slots;
  return Array.from({ length: slots }, (_, offset) => `10.${100 + ((preferred + offset) % slots)}.`)
    .filter((prefix) => !inUse.some((address) => address.startsWith(prefix)))
    .map((prefix) => ({ podCidr: `${prefix}0.0/20`, serviceCidr: `${prefix}16.0/20` }));
}

async function claimFirst(plans: readonly AddressPlan[]): Promise<ClaimedPlan> {
  for (const plan of plans) {
    const release = await claimRange(plan.podCidr);
    if (release !== undefined) return { plan, release };
  }
  throw new Error(
    'every range from 10.100.0.0/16 to 10.199.0.0/16 is in use on this machine; next: `castellan down` in the data directories of other planes',
  );
}

function addressesInUse(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address));
}

function parsePlan(text: string, file: string): AddressPlan {
  const value: unknown = JSON.parse(text);
  if (
    typeof value === 'object' &&
    value !== null &&
    'podCidr' in value &&
    'serviceCidr' in value &&
    typeof value.podCidr === 'string' &&
    typeof value.serviceCidr === 'string'
  ) {
    return { podCidr: value.podCidr, serviceCidr: value.serviceCidr };
  }
  throw new Error(`${file} does not hold podCidr and serviceCidr; next: restore it, or remove the data directory`);
}
