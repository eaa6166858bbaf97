import { isStatusError, type KubernetesObject, keyOf, type ResourceType } from '@castellan/machinery';
import { ownerReferenceFor, type ReconcileContext } from '@castellan/runtime';
import { type Claimant, isBeingDeleted, planClaims } from './plan-claims.js';

export interface ClaimOptions<T extends KubernetesObject> extends Claimant {
  /** The type of the claimant. */
  readonly ownerType: ResourceType;
  /** The type of what it claims. */
  readonly type: ResourceType<T>;
}

/**
 * What of `objects` a controller controls, after it has adopted what it selects and nobody controls, and has let go what it
 * no longer selects. Source: upstream's ControllerRefManager.
 *
 * @throws Error when the claimant is gone or being deleted, though the cache does not show it yet.
 */
export async function claimObjects<T extends KubernetesObject>(
  objects: readonly T[],
  options: ClaimOptions<T>,
  context: ReconcileContext,
): Promise<readonly T[]> {
  const { own, adopt, release } = planClaims(options, objects);
  for (const object of release) await letGo(object, options, context);
  if (adopt.length === 0) return own;
  await assertStays(options, context);
  const adopted: T[] = [];
  for (const object of adopt) {
    const taken = await take(object, options, context);
    if (taken !== undefined) adopted.push(taken);
  }
  return [...own, ...adopted];
}

/** The garbage collector orphans what a claimant owned just before that goes: it must not take it back. */
async function assertStays({ object, ownerType }: Claimant & { ownerType: ResourceType }, context: ReconcileContext) {
  const key = keyOf(object);
  const now = await context.client.find(ownerType, key, { signal: context.signal });
  if (now === undefined || now.metadata.uid !== object.metadata.uid || isBeingDeleted(now)) {
    throw new Error(`${ownerType.kind} ${key.name} is being deleted or is another one by now: it adopts nothing`);
  }
}

async function take<T extends KubernetesObject>(
  object: T,
  { object: owner, ownerType, type }: ClaimOptions<T>,
  { client, signal }: ReconcileContext,
): Promise<T | undefined> {
  const { uid } = object.metadata;
  const body = { metadata: { uid, ownerReferences: [ownerReferenceFor(owner, ownerType)] } };
  try {
    return await client.patch(type, keyOf(object), { type: 'strategic', body }, { signal });
  } catch (error) {
    if (isStatusError(error, 'NotFound')) return undefined;
    throw error;
  }
}

async function letGo<T extends KubernetesObject>(
  object: T,
  { object: owner, type }: ClaimOptions<T>,
  { client, signal }: ReconcileContext,
): Promise<void> {
  const { uid } = object.metadata;
  const body = { metadata: { uid, ownerReferences: [{ $patch: 'delete', uid: owner.metadata.uid }] } };
  try {
    await client.patch(type, keyOf(object), { type: 'strategic', body }, { signal });
  } catch (error) {
    // Gone, or no longer its: that is what was wanted.
    if (!isStatusError(error, 'NotFound', 'Invalid')) throw error;
  }
}
