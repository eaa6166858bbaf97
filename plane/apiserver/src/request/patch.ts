import { applyJsonPatch, applyMergePatch, applyStrategicMergePatch, mergeRulesOf } from '@castellan/machinery';
import { badRequest, unsupportedBody } from '../errors.js';
import { type ApiObject, asApiObject, isRecord, record } from '../json.js';
import { assertMetadataShape } from '../registry/metadata-shape.js';
import type { ResourceDefinition } from '../registry/resource.js';
import { mediaTypeOf, readText } from './body.js';
import { checkFields, type FieldsOwner } from './field-validation.js';
import type { ResourceExchange } from './resource-handler.js';

type PatchFunction = (document: ApiObject, patch: unknown) => unknown;

const patchTypes: Readonly<Record<string, PatchFunction>> = {
  'application/json-patch+json': applyJsonPatch,
  'application/merge-patch+json': applyMergePatch,
};

/**
 * The change that a PATCH asks for. It is applied to whatever the object is at the time of the write, so that a patch
 * without a resourceVersion never conflicts.
 */
export async function readPatch(
  { request, reply }: ResourceExchange,
  definition: FieldsOwner,
): Promise<(current: ApiObject) => Promise<ApiObject>> {
  const type = mediaTypeOf(request);
  const types = patchTypesOf(definition);
  const apply = Object.hasOwn(types, type) ? types[type] : undefined;
  if (apply === undefined) throw unsupportedBody(Object.keys(types));
  const patch = parsePatch(await readText(request));
  return async (current) => {
    const patched = apply(current, patch);
    if (!isRecord(patched)) throw badRequest(`the patch leaves no ${definition.kind}`);
    const object = asApiObject(patched);
    if (object.kind !== current.kind || object.apiVersion !== current.apiVersion) {
      throw badRequest(`a patch cannot change apiVersion or kind of a ${definition.kind}`);
    }
    assertMetadataShape(definition.kind, definition.version, record(object.metadata));
    return checkFields(definition, object, { problems: [], query: request.query, reply });
  };
}

/** Only built-in kinds say which of their lists are merged by which key. */
function patchTypesOf(
  definition: Pick<ResourceDefinition, 'group' | 'kind' | 'isCustom'>,
): Readonly<Record<string, PatchFunction>> {
  if (definition.isCustom) return patchTypes;
  return {
    ...patchTypes,
    'application/strategic-merge-patch+json': (document, patch) =>
      applyStrategicMergePatch(document, patch, mergeRulesOf(definition)),
  };
}

function parsePatch(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw badRequest(`error decoding patch: ${error instanceof Error ? error.message : String(error)}`);
  }
}
