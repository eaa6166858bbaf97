import { type Authority, ensureServiceAccountKey, newAuthority, type ValueTransformer } from '@castellan/apiserver';
import type { Keyspace } from '@castellan/keyspace';
import type { World } from '@castellan/world';

/** What all planes over one storage have in common, so that a client of one is a client of each. */
export interface SharedState {
  /** Services have one address, whoever gave it to them. */
  readonly serviceCidr: string;
  /** PEM: tokens that one has signed hold on all. */
  readonly serviceAccountKey: string;
  /** Signs the certificates of every plane. */
  readonly authority: Authority;
}

export interface SharedStateOptions {
  readonly keyspace: Keyspace;
  readonly world: World;
  /** Seals it as it does secrets. */
  readonly values: ValueTransformer;
  /** Of this plane's own certificates and keys. */
  readonly pkiDirectory: string;
  /** What this plane would choose. */
  readonly serviceCidr: string;
}

/** Beside `/registry`: no kind of object is here. */
const key = '/castellan/shared';

/**
 * Reads what the first plane over this storage has put there, or is the first. Who can read the storage can read the keys:
 * they are as secret as its Secrets are, and encrypted where those are.
 */
export async function shareState(options: SharedStateOptions): Promise<SharedState> {
  const { keyspace, values } = options;
  const found = await keyspace.get(key);
  if (found.keyValue !== undefined) {
    const { value, isStale } = values.open(key, found.keyValue.value);
    const shared = parse(value);
    // Its key is not the first any more. Another plane may write it meanwhile: then it is done as well.
    if (isStale) await keyspace.put(key, values.seal(key, value), { ifRevision: found.keyValue.modRevision });
    return shared;
  }
  const own: SharedState = {
    serviceCidr: options.serviceCidr,
    serviceAccountKey: await ensureServiceAccountKey(options.pkiDirectory),
    authority: await newAuthority(options.world),
  };
  const sealed = values.seal(key, Buffer.from(JSON.stringify(own)));
  const written = await keyspace.put(key, sealed, { ifRevision: 0 });
  if (written.isWritten || written.present === undefined) return own;
  return parse(values.open(key, written.present.value).value);
}

function parse(value: Uint8Array): SharedState {
  const state: unknown = JSON.parse(Buffer.from(value).toString('utf8'));
  if (isSharedState(state)) return state;
  throw new Error(
    `${key} in the storage does not hold what planes share; next: restore it from a backup of the storage, or remove it to have new keys`,
  );
}

function isSharedState(state: unknown): state is SharedState {
  return (
    typeof state === 'object' &&
    state !== null &&
    'serviceCidr' in state &&
    typeof state.serviceCidr === 'string' &&
    'serviceAccountKey' in state &&
    typeof state.serviceAccountKey === 'string' &&
    'authority' in state &&
    typeof state.authority === 'object' &&
    state.authority !== null &&
    'certificate' in state.authority &&
    typeof state.authority.certificate === 'string' &&
    'key' in state.authority &&
    typeof state.authority.key === 'string'
  );
}
