import { fieldError, invalidError } from '@castellan/machinery';
import { badRequest } from '../errors.js';
import { type ApiObject, asApiObject } from '../json.js';
import type { ResourceDefinition } from '../registry/resource.js';
import type { Reply } from './reply.js';

/** What must be known of a kind to tell which fields it has. */
export type FieldsOwner = Pick<ResourceDefinition, 'group' | 'version' | 'kind' | 'isCustom' | 'prune'>;

const modes: readonly string[] = ['Ignore', 'Strict', 'Warn'];

/**
 * Unknown and duplicate fields: refused (`fieldValidation=Strict`), told as warnings (`Warn`, the default) or passed
 * over (`Ignore`). Returns the object without its unknown fields, and without what Go takes for nothing.
 */
export async function checkFields(
  definition: FieldsOwner,
  object: ApiObject,
  found: { readonly problems: readonly string[]; readonly query: URLSearchParams; readonly reply: Reply },
): Promise<ApiObject> {
  const mode = found.query.get('fieldValidation') || 'Warn';
  if (!modes.includes(mode)) {
    const options = { group: 'meta.k8s.io', kind: 'CreateOptions' };
    throw invalidError(options, '', [fieldError.notSupported('fieldValidation', mode, ['', ...modes])]);
  }
  const pruned = definition.prune?.(object) ?? (await decodeBuiltIn(definition, object));
  const unknown = pruned.unknownFields.map((field) => `unknown field "${field}"`);
  const problems = [...found.problems, ...unknown];
  if (mode === 'Strict' && problems.length > 0) {
    throw badRequest(
      `${definition.kind} in version "${definition.version}" cannot be handled as a ${definition.kind}: strict decoding error: ${problems.join(', ')}`,
    );
  }
  if (mode === 'Warn') for (const problem of problems) found.reply.warn(problem);
  return pruned.object;
}

async function decodeBuiltIn(definition: FieldsOwner, object: ApiObject) {
  const { kind, version, isCustom } = definition;
  // The tables are loaded with the first write, not at the start.
  const decoded = isCustom ? undefined : (await import('../types/decode-object.js')).decodeObject(definition, object);
  if (decoded === undefined) return { object, unknownFields: [] };
  const { problem, unknownFields } = decoded;
  if (problem !== undefined) {
    throw badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: ${problem}`);
  }
  return { object: asApiObject(decoded.object), unknownFields };
}
