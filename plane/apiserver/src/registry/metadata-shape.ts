import { badRequest } from '../errors.js';
import { isRecord, type JsonRecord } from '../json.js';

type Shape = 'string' | 'number' | 'strings by name' | 'strings' | 'objects';

/** The fields of metadata that this server reads, and what each must be. */
const shapes: Readonly<Record<string, Shape>> = {
  name: 'string',
  generateName: 'string',
  namespace: 'string',
  uid: 'string',
  resourceVersion: 'string',
  generation: 'number',
  creationTimestamp: 'string',
  deletionTimestamp: 'string',
  deletionGracePeriodSeconds: 'number',
  labels: 'strings by name',
  annotations: 'strings by name',
  finalizers: 'strings',
  ownerReferences: 'objects',
};

interface MetadataOwner {
  readonly kind: string;
  readonly version: string;
  readonly isCustom?: boolean;
}

/** Refuses metadata with a field of the wrong type: everything behind this may rely on its type. 400, as upstream. */
export function assertMetadataShape({ kind, version, isCustom }: MetadataOwner, metadata: JsonRecord): void {
  for (const [field, value] of Object.entries(metadata)) {
    const shape = Object.hasOwn(shapes, field) ? shapes[field] : undefined;
    if (shape === undefined || value === null || hasShape(value, shape)) continue;
    // The metadata of a custom resource is read by itself.
    const place = isCustom === true ? field : `metadata.${field}`;
    const problem = `json: cannot unmarshal ${typeName(wrongPart(value))} into Go struct field ObjectMeta.${place} of type ${goType(shape)}`;
    throw badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: ${problem}`);
  }
}

/** Of labels and finalizers: the first entry that is no text. */
function wrongPart(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  return Object.values(value).find((item) => typeof item !== 'string') ?? value;
}

function hasShape(value: unknown, shape: Shape): boolean {
  switch (shape) {
    case 'string':
      return typeof value === 'string';
    case 'number':
      return typeof value === 'number' || typeof value === 'bigint';
    case 'strings by name':
      return isRecord(value) && Object.values(value).every((item) => typeof item === 'string');
    case 'strings':
      return Array.isArray(value) && value.every((item) => typeof item === 'string');
    case 'objects':
      return Array.isArray(value) && value.every(isRecord);
  }
}

function goType(shape: Shape): string {
  const types = {
    string: 'string',
    number: 'int64',
    'strings by name': 'string',
    strings: 'string',
    objects: 'v1.OwnerReference',
  };
  return types[shape];
}

function typeName(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (isRecord(value)) return 'object';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}
