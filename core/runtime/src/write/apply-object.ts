import { createHash } from 'node:crypto';
import type { Client } from '@castellan/client';
import {
  apiVersionOf,
  canonicalJson,
  formatKey,
  type KubernetesObject,
  keyOf,
  type ResourceType,
} from '@castellan/machinery';
import { BeingDeletedError } from './being-deleted-error.js';
import { mergeDifference } from './merge-difference.js';
import { appliedPart } from './owned-part.js';
import { isSameWhenStored } from './same-when-stored.js';

export interface ApplyOptions<T extends KubernetesObject> {
  /** The object as it is, as far as the caller knows; absent where there is none. */
  readonly existing: T | undefined;
  readonly fieldManager: string;
  readonly memory: ApplyMemory;
  /** What was found is to be remembered for `sameAsBefore`. */
  readonly isCachedInPart: boolean;
}

/**
 * Makes the object be as `desired` by server-side apply: fields that `desired` has are set, those that it had at an
 * earlier time and has no more are given up, and others are left alone. Takes fields from other managers: a controller
 * that is refused its own fields could only try again. Nothing is sent when `existing` shows that nothing would change.
 * `status` is not applied. Throws BeingDeletedError when the object is on its way out.
 */
export async function applyObject<T extends KubernetesObject>(
  client: Client,
  type: ResourceType<T>,
  desired: T,
  { existing, fieldManager, memory, isCachedInPart }: ApplyOptions<T>,
): Promise<T> {
  const key = keyOf(desired);
  if (existing?.metadata.deletionTimestamp !== undefined) {
    throw new BeingDeletedError(`${type.kind} ${formatKey(key)} is being deleted; it can be made anew when it is gone`);
  }
  const apiVersion = apiVersionOf(type);
  const said = appliedFields(desired);
  if (existing !== undefined && memory.isApplied(existing, said, fieldManager, apiVersion)) {
    if (isCachedInPart) memory.note(existing, said, fieldManager, apiVersion);
    return existing;
  }
  const body = { apiVersion, kind: type.kind, ...said, metadata: { ...key, ...said.metadata } };
  const applied = await client.patch(type, key, { type: 'apply', body, fieldManager, force: true });
  memory.note(applied, said, fieldManager, apiVersion);
  return applied;
}

type AppliedFields = Readonly<Record<string, unknown>> & { readonly metadata?: Readonly<Record<string, unknown>> };

/** What of `desired` is to be said to the server, as its managed fields will name it. */
function appliedFields(desired: KubernetesObject): AppliedFields {
  const { labels, annotations, ownerReferences, finalizers } = desired.metadata;
  const metadata = defined({ labels, annotations, ownerReferences, finalizers });
  const fields = defined(Object.fromEntries(Object.entries(desired).filter(([name]) => !notApplied.has(name))));
  return Object.keys(metadata).length === 0 ? fields : { ...fields, metadata };
}

const notApplied = new Set(['apiVersion', 'kind', 'metadata', 'status']);

function defined(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** Objects remembered; an object that is forgotten costs at most one request that changes nothing. */
const mostObjects = 10_000;

interface Applied {
  /** Fingerprints: ten thousand Deployments would be large. */
  readonly said: string;
  /** The same fields as the server had them afterwards; none where managed fields are not known. */
  readonly became: string | undefined;
  readonly revision: string | undefined;
}

/**
 * Knows when an apply would change nothing. The managed fields of an object say what was applied. Where a server stores
 * another form than it was given (a default within an atomic list, an address in its shortest form), they cannot tell, and
 * what became of the same request the last time does.
 */
export class ApplyMemory {
  readonly #applied = new Map<string, Applied>();

  isApplied(existing: KubernetesObject, said: unknown, fieldManager: string, apiVersion: string): boolean {
    const part = appliedPart(existing, fieldManager, apiVersion);
    if (isSameWhenStored(said, part)) return true;
    const last = this.#applied.get(existing.metadata.uid ?? '');
    if (last === undefined || last.said !== fingerprint(said)) return false;
    // A cache without managed fields: what differs in the fields that we want is all that can be seen.
    if (part === undefined && last.became === undefined) return mergeDifference(said, existing) === undefined;
    return part !== undefined && last.became === fingerprint(part);
  }

  /**
   * For an object of which the cache has a part only: what is desired and what identifies the object, when this very
   * version was seen to be as `desired`; `undefined` where the server must be asked.
   */
  sameAsBefore<T extends KubernetesObject>(part: KubernetesObject, desired: T): T | undefined {
    const { uid = '', resourceVersion, deletionTimestamp } = part.metadata;
    const last = this.#applied.get(uid);
    if (last === undefined || last.revision !== resourceVersion || deletionTimestamp !== undefined) return undefined;
    if (last.said !== fingerprint(appliedFields(desired))) return undefined;
    return { ...desired, metadata: { ...desired.metadata, ...part.metadata } };
  }

  note(applied: KubernetesObject, said: unknown, fieldManager: string, apiVersion: string): void {
    const { uid = '', resourceVersion: revision } = applied.metadata;
    const part = appliedPart(applied, fieldManager, apiVersion);
    this.#applied.delete(uid);
    const became = part === undefined ? undefined : fingerprint(part);
    this.#applied.set(uid, { said: fingerprint(said), became, revision });
    if (this.#applied.size <= mostObjects) return;
    const oldest = this.#applied.keys().next();
    if (oldest.done !== true) this.#applied.delete(oldest.value);
  }
}

function fingerprint(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value)).digest('base64');
}
