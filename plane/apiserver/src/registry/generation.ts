import { deepEqual } from '@castellan/machinery';
import { type ApiObject, without } from '../json.js';
import type { ResourceDefinition } from './resource.js';

/**
 * Adds one to metadata.generation when anything outside metadata and status differs, and for some kinds when an
 * annotation does.
 */
export function withGeneration(definition: ResourceDefinition, object: ApiObject, current: ApiObject): ApiObject {
  if (!definition.hasGeneration) return object;
  const old = current.metadata.generation ?? 0;
  const isSame =
    deepEqual(intentOf(object), intentOf(current)) &&
    (!definition.annotationsAreIntent || deepEqual(annotationsOf(object), annotationsOf(current)));
  const generation = isSame ? old : old + 1;
  return generation === 0 ? object : { ...object, metadata: { ...object.metadata, generation } };
}

function annotationsOf({ metadata }: ApiObject) {
  return metadata.annotations ?? {};
}

function intentOf(object: ApiObject) {
  return without(object, 'metadata', 'status', 'apiVersion');
}
