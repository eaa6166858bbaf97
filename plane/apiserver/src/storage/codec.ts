import type { KeyValue, Revision } from '@castellan/keyspace';
import { deepFreeze, exactJson, parseExactJson } from '@castellan/machinery';
import { plainValues, type ValueTransformer } from '../encryption/value-transformer.js';
import { type ApiObject, asApiObject, record } from '../json.js';

/** Between objects and the values that are stored. */
export interface ObjectCodec {
  encode(key: string, object: ApiObject): Uint8Array;
  decode(stored: KeyValue): DecodedObject;
}

export interface DecodedObject {
  readonly object: ApiObject;
  /** It is sealed otherwise than it would be now. */
  readonly isStale: boolean;
}

/** Values are JSON, sealed by `values`. The resourceVersion is not in them: it is the revision at which they were written. */
export function objectCodec(values: ValueTransformer = plainValues): ObjectCodec {
  return {
    encode(key, object) {
      const { resourceVersion: _, ...metadata } = object.metadata;
      return values.seal(key, Buffer.from(exactJson({ ...object, metadata }), 'utf8'));
    },
    decode({ key, value: stored, modRevision }) {
      const { value, isStale } = values.open(key, stored);
      const text = Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('utf8');
      return { object: withRevision(asApiObject(record(parseExactJson(text))), modRevision), isStale };
    },
  };
}

export function withRevision(object: ApiObject, revision: Revision): ApiObject {
  const versioned: ApiObject = { ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } };
  // Shared by caches, watchers and handlers from here on: nobody may change it.
  deepFreeze(versioned);
  return versioned;
}
