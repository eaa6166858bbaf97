// Walk 2/10: an applied object is created or updated here: defaulted, validated, then stored (storage/object-storage.ts).
import { type FieldError, fieldError, invalidError } from '@castellan/machinery';
import {
  alreadyExists,
  badRequest,
  conflict,
  internalError,
  notFound,
  objectWasModified,
  stillBeingDeleted,
} from '../errors.js';
import type { ApiObject } from '../json.js';
import { without } from '../json.js';
import { withRevision } from '../storage/codec.js';
import type { EventLeases } from '../storage/event-leases.js';
import { storageKey } from '../storage/keys.js';
import type { Change } from '../storage/object-storage.js';
import { admitToNamespace } from './admission.js';
import type { Admission } from './admission-control.js';
import { isGone } from './delete.js';
import { withOwners, withoutIdleTimes } from './field-ownership.js';
import { withGeneration } from './generation.js';
import { assertNamespace, initialMetadata, updatedMetadata, validateMetadataUpdate } from './metadata.js';
import { hasSubresource, presentReady, type Resource } from './resource.js';
import type { WriteContext, WriteOutcome } from './strategy.js';
import { validateMetadata } from './validate-metadata.js';

export interface WriteTools {
  readonly namespaces: Resource;
  readonly leases: EventLeases;
  readonly context: WriteContext;
  /** Absent: the server writes for itself. */
  readonly admission?: Admission;
}

export interface Written {
  readonly object: ApiObject;
  readonly isCreated: boolean;
}

const generatedNameAttempts = 8;

/** Creates `sent` in `namespace`. Fails with AlreadyExists, Invalid, or what admission says. */
export async function createObject(
  resource: Resource,
  namespace: string | undefined,
  sent: ApiObject,
  tools: WriteTools,
): Promise<ApiObject> {
  if (resource.definition.isNamespaced) assertNamespace(sent, namespace);
  await admitToNamespace(tools.namespaces, resource.definition, { namespace, name: sent.metadata.name ?? '' });
  const isGenerated = sent.metadata.name === undefined && sent.metadata.generateName !== undefined;
  const attempts = isGenerated ? generatedNameAttempts : 1;
  for (let attempt = 1; ; attempt += 1) {
    const created = await createOnce(resource, namespace, sent, tools);
    if (created.isStored) {
      if (!tools.context.isDryRun) resource.definition.strategy.afterWritten?.(created.object);
      return presentReady(resource.definition, created.object);
    }
    if (attempt >= attempts) throw await nameTaken(resource, namespace, created.object.metadata.name ?? '');
  }
}

/** The refusal of a name that is taken tells those who deleted its object that it is not gone yet. */
async function nameTaken({ definition, store }: Resource, namespace: string | undefined, name: string): Promise<Error> {
  const taken = await store.storage.get(
    storageKey(store.layout, { ...(namespace === undefined ? {} : { namespace }), name }),
  );
  const isBeingDeleted = taken?.metadata.deletionTimestamp !== undefined;
  return isBeingDeleted ? stillBeingDeleted(definition, name) : alreadyExists(definition, name);
}

async function createOnce(
  { definition, store }: Resource,
  namespace: string | undefined,
  sent: ApiObject,
  { context, leases, admission }: WriteTools,
): Promise<{ readonly isStored: boolean; readonly object: ApiObject }> {
  const { strategy } = definition;
  const isStatusOwn = hasSubresource(definition, 'status') && strategy.keepsStatusOnCreate !== true;
  const statusless = isStatusOwn ? withoutStatus(sent) : sent;
  const metadata = initialMetadata(definition, sent, { namespace, world: context.world });
  const initial: ApiObject = { ...statusless, metadata };
  const name = metadata.name ?? '';
  const defaulted = strategy.withDefaults?.(initial) ?? initial;
  // Before admission: what it adds belongs to nobody.
  const owned = withOwners(definition, defaulted, { subresource: '' }, context);
  const place = { definition, operation: 'CREATE', subresource: '', namespace, name } as const;
  const admitted = (await admission?.mutate({ ...place, object: owned })) ?? owned;
  let written: ApiObject | undefined;
  try {
    const prepared = (await strategy.prepareForCreate?.(admitted, context)) ?? admitted;
    throwIfInvalid(definition.kind, definition.group, name, [
      ...validateMetadata(definition, prepared),
      ...((await strategy.validate?.(prepared)) ?? []),
    ]);
    if (context.writer.operation === 'Update' && /^0*[1-9]\d*$/.test(sent.metadata.resourceVersion ?? '')) {
      throw internalError('resourceVersion should not be set on objects to be created');
    }
    for (const warning of strategy.warnings?.(prepared) ?? []) context.warn?.(warning);
    const key = storageKey(store.layout, { ...(namespace === undefined ? {} : { namespace }), name });
    // Asked before admission, so that a name that is taken costs no quota; the write below decides.
    const isTaken = (await store.storage.get(key)) !== undefined;
    if (isTaken) return { isStored: false, object: prepared };
    const stored = (await definition.toStorage?.(prepared)) ?? prepared;
    await admission?.validate({ ...place, object: prepared });
    if (context.isDryRun) return { isStored: true, object: stored };
    const ttl = definition.timeToLiveSeconds;
    written = await store.storage.create(key, stored, ttl === undefined ? undefined : await leases.lease(ttl));
    return { isStored: written !== undefined, object: written ?? prepared };
  } finally {
    await strategy.settle?.(written === undefined ? {} : { after: written }, context);
  }
}

export interface UpdateRequest {
  readonly namespace: string | undefined;
  readonly name: string;
  /** `''` for the object itself, `status`, or another subresource that writes the object. */
  readonly subresource: string;
  /** The new object, made of the one that is there; called again when another writer was faster. */
  change(current: ApiObject): ApiObject | Promise<ApiObject>;
  /** The object to create where there is none; absent where that is not allowed. */
  createInstead?(): ApiObject | Promise<ApiObject>;
  /** PUT of a kind that insists on a resourceVersion. */
  readonly isReplacement: boolean;
}

/** PUT and PATCH, of an object or of a subresource of it. */
export async function updateObject(resource: Resource, request: UpdateRequest, tools: WriteTools): Promise<Written> {
  const { definition, store } = resource;
  const { namespace, name } = request;
  const key = storageKey(store.layout, { ...(namespace === undefined ? {} : { namespace }), name });
  let before: ApiObject | undefined;
  const change = async (stored: ApiObject): Promise<Change> => {
    before = stored;
    const current = await presentReady(definition, stored);
    const sent = await request.change(current);
    assertSameVersion(resource, request, sent, current);
    const next = withoutIdleTimes(await nextObject(resource, request, { sent, current }, tools), current);
    const object = (await definition.toStorage?.(next)) ?? next;
    return isGone(definition, next) ? { type: 'delete', object } : { type: 'put', object };
  };
  let outcome: WriteOutcome = {};
  try {
    if (tools.context.isDryRun) {
      const stored = await store.storage.get(key);
      if (stored === undefined) return await createInstead(resource, request, tools);
      return { object: await presentReady(definition, (await change(stored)).object), isCreated: false };
    }
    const result = await store.storage.guaranteedUpdate(key, change);
    if (result === undefined) return await createInstead(resource, request, tools);
    if (result.type === 'put') definition.strategy.afterWritten?.(result.object);
    const object = await presentReady(definition, result.object);
    outcome = { ...(before === undefined ? {} : { before }), ...(result.type === 'delete' ? {} : { after: object }) };
    if (result.type !== 'delete') return { object, isCreated: false };
    // The reply shows the last version that there was, not the deletion.
    const lastRevision = Number(before?.metadata.resourceVersion ?? 0);
    return { object: withRevision(object, lastRevision), isCreated: false };
  } finally {
    await definition.strategy.settle?.(outcome, tools.context);
  }
}

async function createInstead(resource: Resource, request: UpdateRequest, tools: WriteTools): Promise<Written> {
  const object = await request.createInstead?.();
  if (object === undefined) throw notFound(resource.definition, request.name);
  await tools.admission?.assertMayCreate();
  return { object: await createObject(resource, request.namespace, object, tools), isCreated: true };
}

function assertSameVersion(
  { definition, store }: Resource,
  request: UpdateRequest,
  sent: ApiObject,
  current: ApiObject,
): void {
  const { uid, resourceVersion, name } = sent.metadata;
  const { namespace } = request;
  const key = storageKey(store.layout, { ...(namespace === undefined ? {} : { namespace }), name: request.name });
  if (name !== undefined && name !== '' && name !== request.name) {
    throw badRequest(`the name of the object (${name}) does not match the name on the URL (${request.name})`);
  }
  assertNamespace(sent, request.namespace);
  // A patch of another uid is told below that the field is immutable.
  if (request.isReplacement && uid !== undefined && uid !== '' && uid !== current.metadata.uid) {
    const uids = `UID in precondition: ${uid}, UID in object meta: ${current.metadata.uid ?? ''}`;
    const place = `Code: 4, Key: ${key}, ResourceVersion: 0`;
    const problem = `StorageError: invalid object, ${place}, AdditionalErrorMsg: Precondition failed: ${uids}`;
    throw conflict(definition, request.name, problem);
  }
  if (resourceVersion !== undefined && resourceVersion !== '' && resourceVersion !== '0') {
    if (!/^\d+$/.test(resourceVersion)) {
      throw internalError(`strconv.ParseUint: parsing ${JSON.stringify(resourceVersion)}: invalid syntax`);
    }
    if (resourceVersion !== current.metadata.resourceVersion) {
      throw conflict(definition, request.name, objectWasModified);
    }
  } else if (definition.requiresVersionOnUpdate && request.isReplacement) {
    // Upstream names the resource here where it otherwise names the kind.
    throwIfInvalid(definition.plural, definition.group, request.name, [
      fieldError.invalid('metadata.resourceVersion', 0, 'must be specified for an update'),
    ]);
  }
}

async function nextObject(
  { definition }: Resource,
  request: UpdateRequest,
  { sent, current }: { readonly sent: ApiObject; readonly current: ApiObject },
  { context, admission }: WriteTools,
): Promise<ApiObject> {
  const { strategy } = definition;
  const { namespace, name, subresource } = request;
  const place = { definition, operation: 'UPDATE', subresource, namespace, name, current } as const;
  const metadata = { ...updatedMetadata(sent, current), name: request.name };
  if (request.subresource === 'status') {
    // Metadata of the stored object holds, but for what controllers keep beside their status.
    const kept = { ...current, metadata: { ...current.metadata, ...statusMetadata(sent) } };
    const sentStatus: ApiObject = sent.status === undefined ? withoutStatus(kept) : { ...kept, status: sent.status };
    const asked = strategy.prepareForStatus?.(sentStatus, current, context) ?? sentStatus;
    const owned = withOwners(definition, asked, { current, subresource: 'status' }, context);
    const next = (await admission?.mutate({ ...place, object: owned })) ?? owned;
    const statusErrors = (await strategy.validateStatus?.(next, current, context.warn)) ?? [];
    throwIfInvalid(definition.kind, definition.group, request.name, statusErrors);
    await admission?.validate({ ...place, object: next });
    return next;
  }
  const typed: ApiObject = { ...sent, metadata };
  const withStatus =
    hasSubresource(definition, 'status') && request.subresource === '' ? keepStatus(typed, current) : typed;
  const asked = strategy.withDefaults?.(withStatus) ?? withStatus;
  const owned = withOwners(definition, asked, { current, subresource }, context);
  const admitted = (await admission?.mutate({ ...place, object: owned })) ?? owned;
  const prepared =
    subresource === '' ? ((await strategy.prepareForUpdate?.(admitted, current, context)) ?? admitted) : admitted;
  const next = withGeneration(definition, prepared, current);
  throwIfInvalid(definition.kind, definition.group, request.name, [
    ...validateMetadataUpdate(next, current),
    ...((await strategy.validate?.(next, current, context.warn)) ?? []),
    ...(subresource === ''
      ? (strategy.validateUpdate?.(next, current) ?? [])
      : (strategy.validatePart?.(next, current, subresource) ?? [])),
  ]);
  if (subresource === '') for (const warning of strategy.warnings?.(next, current) ?? []) context.warn?.(warning);
  await admission?.validate({ ...place, object: next });
  return next;
}

function statusMetadata(sent: ApiObject) {
  const { labels, annotations, finalizers, ownerReferences, managedFields } = sent.metadata;
  return {
    ...(labels === undefined ? {} : { labels }),
    ...(annotations === undefined ? {} : { annotations }),
    ...(finalizers === undefined ? {} : { finalizers }),
    ...(ownerReferences === undefined ? {} : { ownerReferences }),
    ...(managedFields === undefined ? {} : { managedFields }),
  };
}

function keepStatus(object: ApiObject, current: ApiObject): ApiObject {
  return current.status === undefined ? withoutStatus(object) : { ...object, status: current.status };
}

function withoutStatus(object: ApiObject): ApiObject {
  return object.status === undefined ? object : { ...without(object, 'status'), metadata: object.metadata };
}

function throwIfInvalid(kind: string, group: string, name: string, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalidError({ kind, group }, name, errors);
}
