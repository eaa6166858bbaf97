import type { Status } from '@castellan/machinery';
import { conflict, notFound } from '../errors.js';
import type { ApiObject } from '../json.js';
import { storageKey } from '../storage/keys.js';
import type { Change } from '../storage/object-storage.js';
import { presentReady, type Resource, type ResourceDefinition } from './resource.js';
import { timestampOf, type WriteContext } from './strategy.js';

export interface DeleteOptions {
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: string;
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
}

export interface Deleted {
  /** False: it is marked, and gone when its finalizers or its grace have ended. */
  readonly isGone: boolean;
  readonly object: ApiObject;
}

const orphanFinalizer = 'orphan';
const foregroundFinalizer = 'foregroundDeletion';

/** An object that is marked as deleted and that nothing holds any longer. */
export function isGone(definition: ResourceDefinition, object: ApiObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds, finalizers } = object.metadata;
  if (deletionTimestamp === undefined || (finalizers ?? []).length > 0) return false;
  return (deletionGracePeriodSeconds ?? 0) === 0 && (definition.strategy.mayVanish?.(object) ?? true);
}

/** Deletes an object, or marks it as deleted where finalizers or grace hold it. */
export async function deleteObject(
  { definition, store }: Resource,
  at_: { readonly namespace: string | undefined; readonly name: string },
  options: DeleteOptions,
  context: WriteContext,
): Promise<Deleted> {
  const { namespace, name } = at_;
  const key = storageKey(store.layout, { ...(namespace === undefined ? {} : { namespace }), name });
  const change = async (stored: ApiObject): Promise<Change> => {
    const current = await presentReady(definition, stored);
    assertPreconditions(definition, name, options, current);
    const propagated = withPropagation(current, options);
    const next = marked(definition, propagated, options, context);
    const toStored = async (object: ApiObject) => (await definition.toStorage?.(object)) ?? object;
    if (!isGone(definition, next)) return { type: 'put', object: await toStored(next) };
    // Where a kind knows no grace, what is deleted at once is not seen marked.
    return {
      type: 'delete',
      object: await toStored(definition.strategy.gracePeriodSeconds === undefined ? propagated : next),
    };
  };
  if (context.isDryRun) {
    const stored = await store.storage.get(key);
    if (stored === undefined) throw notFound(definition, name);
    const { type, object } = await change(stored);
    return { isGone: type === 'delete', object: await presentReady(definition, object) };
  }
  const result = await store.storage.guaranteedUpdate(key, change);
  if (result === undefined) throw notFound(definition, name);
  if (result.type === 'delete') await definition.strategy.settle?.({ before: result.object }, context);
  if (result.type === 'put') definition.strategy.afterMarked?.(result.object);
  return { isGone: result.type === 'delete', object: await presentReady(definition, result.object) };
}

/** What DELETE replies when the object itself is not the reply. */
export function deletedStatus(definition: ResourceDefinition, object: ApiObject): Status {
  const { name, uid } = object.metadata;
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: {
      name: name ?? '',
      ...(definition.group === '' ? {} : { group: definition.group }),
      kind: definition.plural,
      ...(uid === undefined ? {} : { uid }),
    },
  };
}

function assertPreconditions(
  definition: ResourceDefinition,
  name: string,
  { preconditions }: DeleteOptions,
  current: ApiObject,
): void {
  const { uid = '', resourceVersion = '' } = current.metadata;
  if (preconditions?.uid !== undefined && preconditions.uid !== uid) {
    const problem = `the UID in the precondition (${preconditions.uid}) does not match the UID in record (${uid}). The object might have been deleted and then recreated`;
    throw conflict({ ...definition, plural: definition.kind }, name, problem);
  }
  if (preconditions?.resourceVersion !== undefined && preconditions.resourceVersion !== resourceVersion) {
    const problem = `the ResourceVersion in the precondition (${preconditions.resourceVersion}) does not match the ResourceVersion in record (${resourceVersion}). The object might have been modified`;
    throw conflict({ ...definition, plural: definition.kind }, name, problem);
  }
}

/** The garbage collector acts on these finalizers; this server only sets them. */
function withPropagation(current: ApiObject, { propagationPolicy }: DeleteOptions): ApiObject {
  if (propagationPolicy === undefined) return current;
  const others = (current.metadata.finalizers ?? []).filter(
    (finalizer) => finalizer !== orphanFinalizer && finalizer !== foregroundFinalizer,
  );
  const own =
    propagationPolicy === 'Orphan'
      ? [orphanFinalizer]
      : propagationPolicy === 'Foreground'
        ? [foregroundFinalizer]
        : [];
  const finalizers = [...others, ...own];
  const { finalizers: _, ...metadata } = current.metadata;
  return { ...current, metadata: finalizers.length === 0 ? metadata : { ...metadata, finalizers } };
}

function marked(
  definition: ResourceDefinition,
  object: ApiObject,
  options: DeleteOptions,
  context: WriteContext,
): ApiObject {
  const { strategy } = definition;
  const grace = strategy.gracePeriodSeconds?.(object, options.gracePeriodSeconds) ?? 0;
  const { deletionTimestamp, deletionGracePeriodSeconds } = object.metadata;
  // A second delete may shorten the grace, never lengthen it.
  if (deletionTimestamp !== undefined && grace >= (deletionGracePeriodSeconds ?? 0)) return object;
  const wasMarked = deletionTimestamp !== undefined;
  const generation = object.metadata.generation;
  const metadata = {
    ...object.metadata,
    ...(generation === undefined || wasMarked ? {} : { generation: generation + 1 }),
    deletionTimestamp: timestampOf(context.world.clock.now() + grace * 1000),
    deletionGracePeriodSeconds: grace,
  };
  const next = { ...object, metadata };
  return strategy.prepareForDelete?.(next, context) ?? next;
}
