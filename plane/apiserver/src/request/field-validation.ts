import { fieldError, invalidError } from '@castellan/machinery';
import { badRequest } from '../errors.js';
import type { ApiObject } from '../json.js';
import type { ResourceDefinition } from '../registry/resource.js';
import type { Reply } from './reply.js';

const modes: readonly string[] = ['Ignore', 'Strict', 'Warn'];

/**
 * Unknown and duplicate fields: refused (`fieldValidation=Strict`), told as warnings (`Warn`, the default) or passed
 * over (`Ignore`). Returns the object without its unknown fields.
 */
export function checkFields(
  definition: Pick<ResourceDefinition, 'kind' | 'version' | 'prune'>,
  object: ApiObject,
  found: { readonly problems: readonly string[]; readonly query: URLSearchParams; readonly reply: Reply },
): ApiObject {
  const mode = found.query.get('fieldValidation') || 'Warn';
  if (!modes.includes(mode)) {
    const options = { group: 'meta.k8s.io', kind: 'CreateOptions' };
    throw invalidError(options, '', [fieldError.notSupported('fieldValidation', mode, ['', ...modes])]);
  }
  const pruned = definition.prune?.(object) ?? { object, unknownFields: [] };
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
