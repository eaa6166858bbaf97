import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';

/** The address ranges of one plane. They are written down at the first start: services and pods keep their addresses. */
export interface AddressPlan {
  /** A /24 for pods; its first address is the bridge's. */
  readonly podCidr: string;
  /** A /20 for services; its first address is the service `kubernetes`. */
  readonly serviceCidr: string;
}

const slots = 100;

/**
 * Each plane on a machine gets 10.(100+n).0.0/16 of its own, so that several run side by side: n follows from the data
 * directory, unless an interface of the machine is in that range already.
 */
export async function ensureAddressPlan(dataDirectory: string): Promise<AddressPlan> {
  const file = join(dataDirectory, 'addresses.json');
  const written = await readFile(file, 'utf8').catch(() => undefined);
  if (written !== undefined) return parsePlan(written, file);
  const plan = choosePlan(dataDirectory, addressesInUse());
  await mkdir(dataDirectory, { recursive: true });
  await writeFile(file, `${JSON.stringify(plan, null, 2)}\n`);
  return plan;
}

export function choosePlan(dataDirectory: string, inUse: readonly string[]): AddressPlan {
  const preferred = createHash('sha256').update(dataDirectory).digest().readUInt16BE(0) % slots;
  for (let offset = 0; offset < slots; offset += 1) {
    const prefix = `10.${100 + ((preferred + offset) % slots)}.`;
    if (inUse.some((address) => address.startsWith(prefix))) continue;
    return { podCidr: `${prefix}0.0/24`, serviceCidr: `${prefix}16.0/20` };
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
