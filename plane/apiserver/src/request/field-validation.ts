import type { StatusError } from '@castellan/machinery';
import { badRequest } from '../errors.js';
import { type ApiObject, asApiObject } from '../json.js';
import type { ResourceDefinition } from '../registry/resource.js';
import type { decodeObject } from '../types/decode-object.js';
import type { Reply } from './reply.js';

/** What must be known of a kind to tell which fields it has. */
export type FieldsOwner = Pick<ResourceDefinition, 'group' | 'version' | 'kind' | 'isCustom' | 'prune'>;

type Refusal = (problem: string) => StatusError | Promise<StatusError>;

interface Found {
  /** Of the text: fields that are there twice. */
  readonly problems: readonly string[];
  readonly query: URLSearchParams;
  readonly reply: Reply;
  /** The refusal of an object that cannot be read; by default 400 in the words for a body. */
  readonly refusal?: Refusal;
  /** The object is the result of a strategic merge, of which Go speaks in other words. */
  readonly isMerged?: boolean;
}

/**
 * Unknown and duplicate fields: refused (`fieldValidation=Strict`), told as warnings (`Warn`, the default) or passed
 * over (`Ignore`). Returns the object without its unknown fields, and without what Go takes for nothing.
 */
export async function checkFields(definition: FieldsOwner, object: ApiObject, found: Found): Promise<ApiObject> {
  const mode = found.query.get('fieldValidation') || 'Warn';
  const { kind, version } = definition;
  const refusal: Refusal =
    found.refusal ??
    ((problem) => badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: ${problem}`));
  const decoded =
    definition.prune?.(object) ??
    (await decodeBuiltIn(definition, object, { refusal, isMerged: found.isMerged === true }));
  const unknown = decoded.unknownFields.map((field) => `unknown field "${field}"`);
  const problems = [...found.problems, ...unknown];
  if (mode === 'Strict' && problems.length > 0) throw await refusal(`strict decoding error: ${problems.join(', ')}`);
  if (mode === 'Warn') for (const problem of problems) found.reply.warn(problem);
  return decoded.object;
}

let decode: typeof decodeObject | undefined;

async function decodeBuiltIn(
  definition: FieldsOwner,
  object: ApiObject,
  { refusal, isMerged }: { readonly refusal: Refusal; readonly isMerged: boolean },
) {
  // The tables are loaded with the first write, not at the start; to import again what is there still takes its time.
  decode ??= (await import('../types/decode-object.js')).decodeObject;
  const problemOf = isMerged ? (await import('../types/restore-problem.js')).restoreProblem : undefined;
  const decoded = definition.isCustom ? undefined : decode(definition, object, problemOf);
  if (decoded?.problem !== undefined) throw await refusal(decoded.problem);
  return decoded === undefined
    ? { object, unknownFields: [] }
    : { object: asApiObject(decoded.object), unknownFields: decoded.unknownFields };
}
