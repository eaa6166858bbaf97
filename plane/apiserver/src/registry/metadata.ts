import { type FieldError, fieldError, type ObjectMeta } from '@castellan/machinery';
import type { World } from '@castellan/world';
import { badRequest } from '../errors.js';
import { type ApiObject, without } from '../json.js';
import type { ResourceDefinition } from './resource.js';
import { timestamp } from './strategy.js';
import { changeableErrors } from './validate-metadata.js';

const maxGeneratedBase = 58;
const generatedSuffix = 5;

/** What the server alone decides of a new object's metadata; what the client sent for it is dropped. */
export function initialMetadata(
  definition: ResourceDefinition,
  object: ApiObject,
  options: { readonly namespace: string | undefined; readonly world: World },
): ObjectMeta {
  const { namespace, world } = options;
  const { metadata } = object;
  const kept = without({ ...metadata }, ...systemFields);
  const name = metadata.name ?? generatedName(metadata.generateName, world);
  return {
    ...kept,
    ...(name === undefined ? {} : { name }),
    ...(namespace === undefined ? {} : { namespace }),
    uid: world.random.uuid(),
    ...(definition.hasGeneration ? { generation: 1 } : {}),
    creationTimestamp: timestamp(world),
  };
}

const systemFields = [
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'selfLink',
  'namespace',
];

function generatedName(generateName: string | undefined, world: World): string | undefined {
  if (generateName === undefined || generateName === '') return undefined;
  return generateName.slice(0, maxGeneratedBase) + world.random.string(generatedSuffix);
}

/**
 * The metadata of an update: the client's, with the fields that only the server changes taken from the stored object.
 * Others of them may be left out, but not be changed: see `validateMetadataUpdate`.
 */
export function updatedMetadata(object: ApiObject, current: ApiObject): ObjectMeta {
  const sent = object.metadata;
  const kept = current.metadata;
  const isMarked = kept.deletionTimestamp !== undefined;
  return {
    ...without({ ...sent }, 'selfLink', 'generation', 'creationTimestamp'),
    ...pick(kept, 'generation', 'creationTimestamp', 'resourceVersion'),
    ...(sent.uid === undefined || sent.uid === '' ? pick(kept, 'uid') : {}),
    ...(sent.namespace === undefined || sent.namespace === '' ? pick(kept, 'namespace') : {}),
    ...(isMarked ? pick(kept, 'deletionTimestamp') : {}),
    ...(sent.deletionGracePeriodSeconds === undefined ? pick(kept, 'deletionGracePeriodSeconds') : {}),
  };
}

function pick(metadata: ObjectMeta, ...fields: readonly (keyof ObjectMeta)[]): Partial<ObjectMeta> {
  const entries = fields.map((field) => [field, metadata[field]]).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries);
}

/**
 * The rules of metadata that hold between an object and what it was. Upstream checks them for every resource and again
 * with each kind's own rules, so that its replies name each problem twice.
 */
export function validateMetadataUpdate(object: ApiObject, current: ApiObject): readonly FieldError[] {
  const errors = metadataUpdateErrors(object, current);
  return [...errors, ...errors];
}

function metadataUpdateErrors(object: ApiObject, current: ApiObject): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (current.metadata.deletionTimestamp !== undefined) {
    const known = current.metadata.finalizers ?? [];
    const added = (object.metadata.finalizers ?? []).filter((finalizer) => !known.includes(finalizer));
    if (added.length > 0) {
      const names = added.map((finalizer) => JSON.stringify(finalizer)).join(', ');
      const problem = `no new finalizers can be added if the object is being deleted, found new finalizers []string{${names}}`;
      errors.push(fieldError.forbidden('metadata.finalizers', problem));
    }
  }
  for (const field of immutableFields) {
    if (object.metadata[field] !== current.metadata[field]) {
      errors.push(fieldError.invalid(`metadata.${field}`, object.metadata[field] ?? '', 'field is immutable'));
    }
  }
  return [...errors, ...changeableErrors(object)];
}

const immutableFields = [
  'name',
  'namespace',
  'uid',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
] as const;

/** The namespace in the object must be that of the URL, or absent. */
export function assertNamespace(object: ApiObject, namespace: string | undefined): void {
  const sent = object.metadata.namespace;
  if (sent === undefined || sent === '' || sent === namespace) return;
  throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
}
