// Walk 2a/10: who owns which field of what was applied is settled here, between defaulting and validation.
import {
  applyPatch,
  builtInTypesOf,
  deepEqual,
  type FieldManagerOptions,
  type FieldTypes,
  trackUpdate,
  typesOfResource,
} from '@castellan/machinery';
import { isSchema } from '../crd/custom-strategy.js';
import { type ApiObject, asApiObject, isRecord, type JsonRecord, list, record, without } from '../json.js';
import { parseJsonText } from '../request/json-text.js';
import { hasSubresource, type ResourceDefinition } from './resource.js';
import { timestamp, type WriteContext } from './strategy.js';
import { zeroObject } from './zero-object.js';

/** What of a write concerns the owners of fields. */
interface OwnedWrite {
  /** The object before; `undefined` for a create. */
  readonly current?: ApiObject | undefined;
  /** '' for the object itself. */
  readonly subresource: string;
}

/** `next` with the field owners that a create, an update or a patch leaves behind. An apply has settled them already. */
export function withOwners(
  definition: ResourceDefinition,
  next: ApiObject,
  { current, subresource }: OwnedWrite,
  context: WriteContext,
): ApiObject {
  if (context.writer.operation === 'Apply') return next;
  const before = current ?? (definition.isCustom ? undefined : zeroObject(next, definition.kind));
  const tracked = asApiObject(trackUpdate(before, next, managerOptions(definition, next, subresource, context)));
  return subresource === 'scale' ? withScaleOwner(definition, tracked) : tracked;
}

/**
 * Upstream carries owners from a Scale over to its object without their times, and for built-in kinds not at all: there
 * the number of replicas has no owner once it has been scaled.
 */
function withScaleOwner({ isCustom }: ResourceDefinition, object: ApiObject): ApiObject {
  const owners = list(object.metadata.managedFields).map(record);
  const managedFields = owners.flatMap((entry) => {
    if (entry.subresource !== 'scale') return [entry];
    return isCustom ? [without(entry, 'time')] : [];
  });
  return { ...object, metadata: { ...object.metadata, managedFields } };
}

/** Server-side apply of `applied` to `current`, which is `undefined` where the apply creates the object. */
export async function withApplied(
  definition: ResourceDefinition,
  applied: ApiObject,
  { current, subresource, isForced }: OwnedWrite & { readonly isForced: boolean },
  context: WriteContext,
): Promise<ApiObject> {
  const options = managerOptions(definition, applied, subresource, context);
  const types = await applyTypesFor(definition);
  const lastApplied = options.manager === 'kubectl' ? lastAppliedOf(current) : undefined;
  const forced = { ...options, types, force: isForced };
  const all = lastApplied === undefined ? forced : { ...forced, lastApplied };
  const next = asApiObject(applyPatch(current, applied, all));
  return subresource === 'scale' ? withScaleOwner(definition, next) : next;
}

/** What applied objects must fit exactly. The tables of the built-in kinds are loaded with the first one. */
export async function applyTypesFor(definition: ResourceDefinition): Promise<FieldTypes> {
  if (definition.isCustom) return fieldTypesOf(definition);
  const { applyTypesOf } = await import('../types/apply-types.js');
  return applyTypesOf(definition);
}

const lastAppliedAnnotation = 'kubectl.kubernetes.io/last-applied-configuration';

/** What `kubectl apply` said before it applied on the server: it may change that without a conflict. */
function lastAppliedOf(current: ApiObject | undefined): JsonRecord | undefined {
  const text = current?.metadata.annotations?.[lastAppliedAnnotation];
  if (text === undefined) return undefined;
  try {
    const { value } = parseJsonText(text);
    return isRecord(value) ? value : undefined;
  } catch {
    // Anybody may write annotations: what cannot be read allows nothing.
    return undefined;
  }
}

/** `next` as it is, or `current` where the two differ in nothing but when somebody last wrote. */
export function withoutIdleTimes(next: ApiObject, current: ApiObject): ApiObject {
  const { managedFields } = current.metadata;
  if (managedFields === undefined || !deepEqual(timeless(next), timeless(current))) return next;
  return { ...next, metadata: { ...next.metadata, managedFields } };
}

function timeless(object: ApiObject) {
  const { managedFields, resourceVersion: _, ...metadata } = object.metadata;
  const owners = list(managedFields).map((entry) => without(record(entry), 'time'));
  return { ...object, metadata: { ...metadata, managedFields: owners } };
}

function managerOptions(
  definition: ResourceDefinition,
  object: ApiObject,
  subresource: string,
  { world, writer }: WriteContext,
): FieldManagerOptions {
  return {
    manager: writer.manager,
    subresource,
    now: timestamp(world),
    types: fieldTypesOf(definition),
    ignoredFields: ignoredFields(definition, object, subresource),
  };
}

const typesByDefinition = new WeakMap<ResourceDefinition, FieldTypes>();

function fieldTypesOf(definition: ResourceDefinition): FieldTypes {
  const { isCustom, schema } = definition;
  if (!isCustom || !isSchema(schema)) return builtInTypesOf(definition);
  const known = typesByDefinition.get(definition);
  if (known !== undefined) return known;
  const types = typesOfResource(schema);
  typesByDefinition.set(definition, types);
  return types;
}

const onlyStatus: readonly (readonly string[])[] = [['status']];
const nothing: readonly (readonly string[])[] = [];

/** A write of the object says nothing of its status where that is a subresource, and one of the status nothing else. */
function ignoredFields(definition: ResourceDefinition, object: ApiObject, subresource: string) {
  if (subresource !== 'status') return hasSubresource(definition, 'status') ? onlyStatus : nothing;
  const others = Object.keys(object).filter((field) => !['apiVersion', 'kind', 'metadata', 'status'].includes(field));
  return others.map((field) => [field]);
}
