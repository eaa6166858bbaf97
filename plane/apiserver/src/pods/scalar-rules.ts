import {
  dns1123LabelErrors,
  dns1123SubdomainErrors,
  type FieldError,
  fieldError,
  isIpAddress,
  qualifiedNameErrors,
} from '@castellan/machinery';
import { text } from '../json.js';

const maxPort = 65_535;
const maxInt32 = 2_147_483_647;
const maxMode = 0o777;

/** A text that must be there. */
export function requiredText(value: unknown, path: string): readonly FieldError[] {
  return (text(value) ?? '') === '' ? [fieldError.required(path)] : [];
}

/** One of a closed set of words; none of them is a word that must be there. */
export function oneOf(value: unknown, words: readonly string[], path: string): readonly FieldError[] {
  const word = text(value) ?? '';
  if (word === '') return [fieldError.required(path)];
  return words.includes(word) ? [] : [fieldError.notSupported(path, word, words)];
}

/** One of a closed set of words, where nothing counts as a word too. */
export function oneOfOrUnset(value: unknown, words: readonly string[], path: string): readonly FieldError[] {
  return value === undefined || words.includes(text(value) ?? '') ? [] : [fieldError.notSupported(path, value, words)];
}

/** The name of a namespace, and of what becomes one label of a DNS name. */
export function labelNameErrors(value: unknown, path: string): readonly FieldError[] {
  return formErrors(dns1123LabelErrors, value, path);
}

/** The name of most objects. */
export function subdomainErrors(value: unknown, path: string): readonly FieldError[] {
  return formErrors(dns1123SubdomainErrors, value, path);
}

const longestDriverName = 63;

/** The name of a CSI driver, which may have capitals. */
export function csiDriverNameErrors(value: unknown, path: string): readonly FieldError[] {
  const name = text(value) ?? '';
  return [
    ...requiredText(name, path),
    ...(name.length > longestDriverName ? [fieldError.tooLong(path, longestDriverName)] : []),
    ...dns1123SubdomainErrors(name.toLowerCase()).map((problem) => fieldError.invalid(path, name, problem)),
  ];
}

/** A name that may have a domain before it: `example.com/name`. */
export function qualifiedErrors(value: unknown, path: string): readonly FieldError[] {
  return formErrors(qualifiedNameErrors, value, path);
}

const pathForm = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+";
const pathExpression = new RegExp(`^${pathForm}$`);

/** A domain and a path: `example.com/controller`. Source: IsDomainPrefixedPath. */
export function domainPathErrors(value: string, path: string): readonly FieldError[] {
  const slash = value.indexOf('/');
  const [domain, rest] = [value.slice(0, slash), value.slice(slash + 1)];
  if (slash < 1 || rest === '') {
    return [fieldError.invalid(path, value, 'must be a domain-prefixed path (such as "acme.io/foo")')];
  }
  const problem = `Invalid path (regex used for validation is '${pathForm}')`;
  return [
    ...subdomainErrors(domain, path),
    ...(pathExpression.test(rest) ? [] : [fieldError.invalid(path, rest, problem)]),
  ];
}

/** A name that is one segment of a path. */
export function pathSegmentErrors(value: unknown, path: string): readonly FieldError[] {
  return formErrors(pathSegmentProblems, value, path);
}

/** What is wrong with one segment of a path. */
export function pathSegmentProblems(name: string): readonly string[] {
  if (name === '.' || name === '..') return [`may not be '${name}'`];
  return ['/', '%'].filter((illegal) => name.includes(illegal)).map((illegal) => `may not contain '${illegal}'`);
}

function formErrors(
  problemsOf: (name: string) => readonly string[],
  value: unknown,
  path: string,
): readonly FieldError[] {
  const name = text(value) ?? '';
  return problemsOf(name).map((problem) => fieldError.invalid(path, name, problem));
}

export function badIpAddress(value: unknown, path: string): readonly FieldError[] {
  const address = text(value) ?? '';
  const invalid = (problem: string) => [fieldError.invalid(path, address, problem)];
  if (/^::ffff:\d+\.\d+\.\d+\.\d+$/i.test(address)) return invalid('must not be an IPv4-mapped IPv6 address');
  if (isIpAddress(address)) return [];
  const bare = address.split('.').map((number) => number.replace(/^0+(?=\d)/, ''));
  if (isIpAddress(bare.join('.'))) return invalid('must not have leading 0s');
  return invalid('must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)');
}

export function inRange(
  value: unknown,
  path: string,
  { from, to }: { readonly from: number; readonly to: number },
): readonly FieldError[] {
  if (typeof value !== 'number' || (value >= from && value <= to)) return [];
  return [fieldError.invalid(path, value, `must be between ${from} and ${to}, inclusive`)];
}

export function portNumberErrors(value: unknown, path: string): readonly FieldError[] {
  return inRange(value, path, { from: 1, to: maxPort });
}

/** The number of a user or a group. */
export function identityErrors(value: unknown, path: string): readonly FieldError[] {
  return inRange(value, path, { from: 0, to: maxInt32 });
}

export function notNegative(value: unknown, path: string): readonly FieldError[] {
  return typeof value === 'number' && value < 0
    ? [fieldError.invalid(path, value, 'must be greater than or equal to 0')]
    : [];
}

/** The permissions of a file. */
export function modeErrors(value: unknown, path: string): readonly FieldError[] {
  if (typeof value !== 'number' || (value >= 0 && value <= maxMode)) return [];
  return [fieldError.invalid(path, value, 'must be a number between 0 and 0777 (octal), both inclusive')];
}

/** A path that stays below where it begins. */
export function localPathErrors(value: unknown, path: string): readonly FieldError[] {
  const local = text(value) ?? '';
  return [
    ...(local.startsWith('/') ? [fieldError.invalid(path, local, 'must be a relative path')] : []),
    ...noBackstepErrors(local, path),
  ];
}

export function noBackstepErrors(value: unknown, path: string): readonly FieldError[] {
  const walked = text(value) ?? '';
  return walked.split('/').includes('..') ? [fieldError.invalid(path, walked, "must not contain '..'")] : [];
}

/** A path of a file in a volume whose own files begin with two dots. */
export function volumeFileErrors(value: unknown, path: string): readonly FieldError[] {
  const file = text(value) ?? '';
  const isReserved = file.startsWith('..') && !file.startsWith('../');
  return [
    ...localPathErrors(file, path),
    ...(isReserved ? [fieldError.invalid(path, file, "must not start with '..'")] : []),
  ];
}
