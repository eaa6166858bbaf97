import {
  applyJsonPatch,
  applyMergePatch,
  applyStrategicMergePatch,
  fieldError,
  invalidError,
  mergeRulesOf,
  type StatusError,
} from '@castellan/machinery';
import { badRequest, unsupportedBody } from '../errors.js';
import { type ApiObject, asApiObject, isRecord, record } from '../json.js';
import { assertMetadataShape } from '../registry/metadata-shape.js';
import type { ResourceDefinition } from '../registry/resource.js';
import { mediaTypeOf, readText } from './body.js';
import type { ResourceExchange } from './exchange.js';
import { checkFields, type FieldsOwner } from './field-validation.js';
import { goText } from './go-text.js';
import { syntaxProblem } from './json-problem.js';
import { parseJsonText } from './json-text.js';
import { kindProblem } from './kind-problem.js';
import { patchedText, type Touched, touchedByMerge, touchedByOperations } from './patched-text.js';
import { applyPatchType } from './write-options.js';

interface PatchType {
  apply(document: ApiObject, patch: unknown): unknown;
  /** What of the object the patch reaches into. Absent: a refusal of the patched object shows the patch instead. */
  touched?(patch: unknown): Touched;
}

const jsonPatchType = 'application/json-patch+json';
const patchTypes: Readonly<Record<string, PatchType>> = {
  [jsonPatchType]: { apply: applyJsonPatch, touched: touchedByOperations },
  'application/merge-patch+json': { apply: applyMergePatch, touched: touchedByMerge },
};

/**
 * The change that a PATCH asks for. It is applied to whatever the object is at the time of the write, so that a patch
 * without a resourceVersion never conflicts.
 */
export async function readPatch(
  { request, reply }: ResourceExchange,
  definition: FieldsOwner,
): Promise<(current: ApiObject) => Promise<ApiObject>> {
  const mediaType = mediaTypeOf(request);
  const types = patchTypesOf(definition);
  const type = Object.hasOwn(types, mediaType) ? types[mediaType] : undefined;
  if (type === undefined) throw unsupportedBody([...Object.keys(types), applyPatchType]);
  const patch = parsePatch(await readText(request), mediaType);
  request.heard?.(patch);
  return async (current) => {
    const patched = type.apply(current, patch);
    if (!isRecord(patched)) throw badRequest(`the patch leaves no ${definition.kind}`);
    // Go restores the result of a strategic merge into the structure of the kind, whatever it says of what kind it is.
    const isMerged = type.touched === undefined;
    const { kind, apiVersion } = current;
    const object = asApiObject(isMerged ? { ...patched, kind, apiVersion } : patched);
    const refusal = async (problem: string) =>
      invalidPatch(
        type.touched === undefined ? goText(patch) : await patchedText(definition, object, type.touched(patch)),
        problem,
      );
    if (object.kind !== kind || object.apiVersion !== apiVersion) {
      throw await refusal(await kindProblem(definition, object));
    }
    const options = { problems: [], query: request.query, reply, refusal, isMerged };
    const checked = await checkFields(definition, object, options);
    assertMetadataShape(definition, record(checked.metadata));
    return checked;
  };
}

/** Only built-in kinds say which of their lists are merged by which key. */
function patchTypesOf(
  definition: Pick<ResourceDefinition, 'group' | 'kind' | 'isCustom'>,
): Readonly<Record<string, PatchType>> {
  if (definition.isCustom) return patchTypes;
  return {
    ...patchTypes,
    'application/strategic-merge-patch+json': {
      apply: (document, patch) => applyStrategicMergePatch(document, patch, mergeRulesOf(definition)),
    },
  };
}

/** 422 for a patch whose result cannot be read as an object of its kind. */
function invalidPatch(shown: string, problem: string): StatusError {
  return invalidError({ group: '', kind: '' }, '', [fieldError.invalid('patch', shown, problem)]);
}

function parsePatch(text: string, mediaType: string): unknown {
  const patch = parseJson(text);
  if (mediaType === jsonPatchType || isRecord(patch)) return patch;
  if (patch === null) throw badRequest('Invalid JSON Patch');
  const type = Array.isArray(patch) ? 'array' : typeof patch === 'boolean' ? 'bool' : typeof patch;
  throw badRequest(
    `error decoding patch: json: cannot unmarshal ${type} into Go value of type map[string]interface {}`,
  );
}

function parseJson(text: string): unknown {
  try {
    return parseJsonText(text).value;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw badRequest(`error decoding patch: ${syntaxProblem(text)}`);
  }
}
