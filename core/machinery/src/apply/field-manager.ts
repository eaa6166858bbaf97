import { isRecord, type JsonRecord, ownValue } from '../value/record.js';
import type { FieldTypes } from './field-types.js';
import { decodeManagers, encodeManagers, type Manager } from './managers.js';

/** Who writes, and when. */
export interface FieldManagerOptions {
  /** The name of the field manager. */
  readonly manager: string;
  /** The subresource that is written; none for the resource itself. */
  readonly subresource?: string;
  /** RFC 3339, whole seconds. */
  readonly now: string;
  /** `typesOfResource(schema)` for custom resources, `builtInTypes` for others. */
  readonly types: FieldTypes;
  /** Fields that this request does not write whatever it says: `[['status']]` for a resource with a status subresource. */
  readonly ignoredFields?: readonly (readonly string[])[];
}

export function apiVersionIn(object: JsonRecord): string {
  const apiVersion = ownValue(object, 'apiVersion');
  return typeof apiVersion === 'string' ? apiVersion : '';
}

export function metadataOf(object: unknown): JsonRecord {
  const metadata = isRecord(object) ? ownValue(object, 'metadata') : undefined;
  return isRecord(metadata) ? metadata : {};
}

export function managersOf(object: unknown): readonly Manager[] {
  return decodeManagers(ownValue(metadataOf(object), 'managedFields'));
}

/** `object` with these managers; without the field where there are none. */
export function withManagers(object: JsonRecord, managers: readonly Manager[]): JsonRecord {
  const managedFields = encodeManagers(managers);
  const metadata = withoutManagedFields(object);
  return { ...object, metadata: managedFields.length === 0 ? metadata : { ...metadata, managedFields } };
}

export function withoutManagers(object: JsonRecord): JsonRecord {
  const hasManagers = Object.hasOwn(metadataOf(object), 'managedFields');
  return hasManagers ? { ...object, metadata: withoutManagedFields(object) } : object;
}

function withoutManagedFields(object: JsonRecord): JsonRecord {
  const { managedFields: _, ...metadata } = metadataOf(object);
  return metadata;
}
