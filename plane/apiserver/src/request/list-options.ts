import { type FieldError, fieldError, invalidError } from '@castellan/machinery';
import { badRequest } from '../errors.js';

const listOptions = { group: 'meta.k8s.io', kind: 'ListOptions' } as const;
const matchField = 'resourceVersionMatch';
const matches = ['Exact', 'NotOlderThan'];

/** Refuses combinations of a list's parameters that have no meaning. */
export function assertListOptions(query: URLSearchParams): void {
  const match = query.get(matchField) ?? '';
  const version = query.get('resourceVersion') ?? '';
  const hasContinue = (query.get('continue') ?? '') !== '';
  const errors: FieldError[] = [];
  const forbid = (problem: string) => errors.push(fieldError.forbidden(matchField, problem));
  if (match !== '') {
    if (version === '') forbid('resourceVersionMatch is forbidden unless resourceVersion is provided');
    if (hasContinue) forbid('resourceVersionMatch is forbidden when continue is provided');
    if (!matches.includes(match)) errors.push(fieldError.notSupported(matchField, match, [...matches, '']));
    if (match === 'Exact' && version === '0') {
      forbid('resourceVersionMatch "exact" is forbidden for resourceVersion "0"');
    }
  }
  if (query.has('sendInitialEvents')) {
    errors.push(fieldError.forbidden('sendInitialEvents', 'sendInitialEvents is forbidden for list'));
  }
  throwIfAny(errors);
  if (hasContinue && version !== '' && version !== '0') {
    throw badRequest('specifying resource version is not allowed when using continue');
  }
  assertNumbers(query);
}

/** What is no number is refused, also where nothing is done with it. */
function assertNumbers(query: URLSearchParams): void {
  for (const field of ['timeoutSeconds', 'limit']) {
    const value = query.get(field) ?? '';
    if (/^[+-]?\d+$/.test(value) || value === '') continue;
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(value)}: invalid syntax`);
  }
}

/** The same of a watch's. */
export function assertWatchOptions(query: URLSearchParams): void {
  const sends = query.has('sendInitialEvents');
  const match = query.get(matchField) ?? '';
  const errors: FieldError[] = [];
  const forbid = (problem: string) => errors.push(fieldError.forbidden(matchField, problem));
  if ((query.get('continue') ?? '') !== '') forbid('resourceVersionMatch is forbidden when continue is provided');
  if (!sends && match !== '')
    forbid('resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided');
  if (sends && match !== 'NotOlderThan') {
    forbid('sendInitialEvents requires setting resourceVersionMatch to NotOlderThan');
    if (match !== '') errors.push(fieldError.notSupported(matchField, match, ['NotOlderThan']));
  }
  throwIfAny(errors);
  assertNumbers(query);
}

function throwIfAny(errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalidError(listOptions, '', errors);
}
