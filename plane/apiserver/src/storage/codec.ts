import type { Revision } from '@castellan/keyspace';
import { deepFreeze } from '@castellan/machinery';
import { type ApiObject, asApiObject, record } from '../json.js';

/** Values are JSON. The resourceVersion is not in them: it is the revision at which they were written. */
export function encodeObject(object: ApiObject): Uint8Array {
  const { resourceVersion: _, ...metadata } = object.metadata;
  return Buffer.from(JSON.stringify({ ...object, metadata }), 'utf8');
}

export function decodeObject(value: Uint8Array, revision: Revision): ApiObject {
  const text = Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('utf8');
  const object = asApiObject(record(JSON.parse(text)));
  return withRevision(object, revision);
}

export function withRevision(object: ApiObject, revision: Revision): ApiObject {
  const versioned: ApiObject = { ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } };
  // Shared by caches, watchers and handlers from here on: nobody may change it.
  deepFreeze(versioned);
  return versioned;
}
