import { isRecord, type JsonRecord, ownValue, withChanges } from '../value/record.js';
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
  const entries = encodeManagers(managers);
  const metadata = withChanges(
    metadataOf(object),
    new Map([['managedFields', entries.length === 0 ? undefined : entries]]),
  );
  return withChanges(object, new Map([['metadata', metadata]]));
}

export function withoutManagers(object: JsonRecord): JsonRecord {
  return isRecord(ownValue(object, 'metadata')) ? withManagers(object, []) : object;
}
