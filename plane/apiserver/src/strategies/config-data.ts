import { type FieldError, fieldError } from '@castellan/machinery';
import { type ApiObject, type JsonRecord, record, text } from '../json.js';
import { syntaxProblem } from '../request/json-problem.js';

const longestKey = 253;
const keyText =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

/** What each type of secret must hold. */
const requiredKeys: Readonly<Record<string, readonly string[]>> = {
  'kubernetes.io/dockercfg': ['.dockercfg'],
  'kubernetes.io/dockerconfigjson': ['.dockerconfigjson'],
  'kubernetes.io/ssh-auth': ['ssh-privatekey'],
  'kubernetes.io/tls': ['tls.crt', 'tls.key'],
};
/** In bytes, of a ConfigMap or a secret. */
const mostBytes = 1024 * 1024;
const accountAnnotation = 'kubernetes.io/service-account.name';

function keyErrors(data: unknown, path: string): readonly FieldError[] {
  return Object.keys(record(data)).flatMap((key) =>
    keyProblems(key).map((problem) => fieldError.invalid(`${path}[${key}]`, key, problem)),
  );
}

/** What is wrong with the key of an entry of a ConfigMap or a secret. */
export function keyProblems(key: string): readonly string[] {
  if (key.length > longestKey) return [`must be no more than ${longestKey} characters`];
  if (!/^[-._a-zA-Z0-9]+$/.test(key)) return [keyText];
  if (key === '.' || key === '..') return [`must not be '${key}'`];
  return key.startsWith('..') ? ["must not start with '..'"] : [];
}

/** The rules of a ConfigMap's keys. */
export function configMapErrors(object: ApiObject): readonly FieldError[] {
  const binary = record(object.binaryData);
  return [
    ...Object.keys(record(object.data)).flatMap((key) => [
      ...keyProblems(key).map((problem) => fieldError.invalid(`data[${key}]`, key, problem)),
      ...(Object.hasOwn(binary, key)
        ? [fieldError.invalid(`data[${key}]`, key, 'duplicate of key present in binaryData')]
        : []),
    ]),
    ...keyErrors(binary, 'binaryData'),
    ...(textBytes(record(object.data)) + decodedBytes(binary) > mostBytes ? [fieldError.tooLong('', mostBytes)] : []),
  ];
}

function textBytes(data: JsonRecord): number {
  return Object.values(data).reduce<number>((sum, value) => sum + Buffer.byteLength(text(value) ?? ''), 0);
}

function decodedBytes(data: JsonRecord): number {
  return Object.values(data).reduce<number>((sum, value) => sum + Buffer.byteLength(text(value) ?? '', 'base64'), 0);
}

/** The rules of a secret's keys, and of what its type makes it hold. */
export function secretErrors(secret: ApiObject): readonly FieldError[] {
  const type = text(secret.type) ?? '';
  const data = record(secret.data);
  const wanted = Object.hasOwn(requiredKeys, type) ? (requiredKeys[type] ?? []) : [];
  return [
    ...keyErrors(data, 'data'),
    ...(decodedBytes(data) > mostBytes ? [fieldError.tooLong('data', mostBytes)] : []),
    ...wanted.filter((key) => !Object.hasOwn(data, key)).map((key) => fieldError.required(`data[${key}]`)),
    ...(type === 'kubernetes.io/basic-auth' && data.username === undefined && data.password === undefined
      ? [fieldError.required('data[username]'), fieldError.required('data[password]')]
      : []),
    ...(type === 'kubernetes.io/service-account-token' && !secret.metadata.annotations?.[accountAnnotation]
      ? [fieldError.required(`metadata.annotations[${accountAnnotation}]`)]
      : []),
    ...(type.startsWith('kubernetes.io/dockerc') ? wanted.flatMap((key) => jsonErrors(data[key], `data[${key}]`)) : []),
  ];
}

/** What logs in to registries is kept in JSON. */
function jsonErrors(value: unknown, path: string): readonly FieldError[] {
  if (typeof value !== 'string') return [];
  const json = Buffer.from(value, 'base64').toString('utf8');
  try {
    JSON.parse(json);
    return [];
  } catch {
    return [fieldError.invalid(path, '<secret contents redacted>', syntaxProblem(json))];
  }
}
