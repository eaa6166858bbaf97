import { type FieldError, fieldError, invalidError } from '@castellan/machinery';
import type { FieldWriter } from '../registry/strategy.js';
import type { ApiRequest } from '../server/http.js';
import { isTrue } from './authorize.js';
import { mediaTypeOf } from './body.js';

/** The body of a server-side apply; JSON is YAML, too. */
export const applyPatchType = 'application/apply-patch+yaml';

export interface WriteOptions {
  readonly isDryRun: boolean;
  readonly writer: FieldWriter;
}

const longestManager = 128;
const validationModes: readonly string[] = ['', 'Ignore', 'Strict', 'Warn'];
const optionsKinds: Readonly<Record<string, string>> = {
  POST: 'CreateOptions',
  PUT: 'UpdateOptions',
  PATCH: 'PatchOptions',
};

/** What the query says of a write: `dryRun`, `fieldManager`, `force` and `fieldValidation`. Anything else in them is refused with 422. */
export function readWriteOptions(request: ApiRequest): WriteOptions {
  const kind = optionsKinds[request.method];
  const dryRun = request.query.getAll('dryRun').filter((value) => value !== '');
  const isApply = request.method === 'PATCH' && mediaTypeOf(request) === applyPatchType;
  const operation = isApply ? 'Apply' : 'Update';
  if (kind !== undefined) {
    const errors = [...managerErrors(request, isApply), ...dryRunErrors(dryRun), ...validationErrors(request)];
    if (errors.length > 0) throw invalidError({ group: 'meta.k8s.io', kind }, '', errors);
  }
  const manager = request.query.get('fieldManager') || managerOfAgent(request.headers['user-agent'] ?? '');
  return { isDryRun: dryRun.length > 0, writer: { manager, operation } };
}

/** Whether an apply takes fields from other managers. */
export function isForced({ query }: ApiRequest): boolean {
  return isTrue(query.get('force'));
}

function dryRunErrors(dryRun: readonly string[]): readonly FieldError[] {
  return dryRun.filter((value) => value !== 'All').map((value) => fieldError.notSupported('dryRun', value, ['All']));
}

function validationErrors({ query }: ApiRequest): readonly FieldError[] {
  const mode = query.get('fieldValidation') ?? '';
  return validationModes.includes(mode) ? [] : [fieldError.notSupported('fieldValidation', mode, validationModes)];
}

function managerErrors({ method, query }: ApiRequest, isApply: boolean): readonly FieldError[] {
  const manager = query.get('fieldManager') ?? '';
  const errors: FieldError[] = [];
  if (isApply && manager === '') {
    errors.push(fieldError.required('fieldManager', 'is required for apply patch'));
  }
  if (method === 'PATCH' && !isApply && query.has('force')) {
    errors.push(fieldError.forbidden('force', 'may not be specified for non-apply patch'));
  }
  if (Buffer.byteLength(manager) > longestManager) {
    errors.push(fieldError.tooLong('fieldManager', longestManager));
  }
  const position = [...manager].findIndex((character) => !isPrintable(character));
  if (position >= 0) {
    const code = ([...manager][position]?.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
    errors.push(fieldError.invalid('fieldManager', manager, `invalid character U+${code} (at position ${position})`));
  }
  return errors;
}

/** `kubectl/v1.33 (linux)` writes as `kubectl`. */
function managerOfAgent(userAgent: string): string {
  const [product = ''] = userAgent.split('/');
  const name = [...product].filter(isPrintable).join('');
  return Buffer.from(name, 'utf8').subarray(0, longestManager).toString('utf8') || 'unknown';
}

/** Go's unicode.IsPrint: letters, marks, numbers, punctuation, symbols and the plain space. */
function isPrintable(character: string): boolean {
  return character === ' ' || /[\p{L}\p{M}\p{N}\p{P}\p{S}]/u.test(character);
}
