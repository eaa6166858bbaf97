import { deepEqual, type FieldError, fieldError } from '@castellan/machinery';
import { type ApiObject, at, record, text } from '../json.js';
import type { Strategy } from '../registry/strategy.js';
import { configMapErrors, secretErrors } from './config-data.js';
import { tlsPairProblem } from './tls-pair.js';

export const configMapStrategy: Strategy = {
  validate: configMapErrors,
  validateUpdate: (object, current) => immutableErrors(object, current, ['data', 'binaryData']),
};

export const secretStrategy: Strategy = {
  withDefaults: (secret) => withStringData({ type: 'Opaque', ...secret }),
  validate: secretErrors,
  warnings: tlsWarnings,
  validateUpdate: (object, current) => [
    ...(object.type === current.type ? [] : [fieldError.invalid('type', object.type, 'field is immutable')]),
    ...immutableErrors(object, current, ['data']),
  ],
};

function tlsWarnings({ type, data }: ApiObject): readonly string[] {
  if (type !== 'kubernetes.io/tls') return [];
  const decoded = (key: string) => Buffer.from(text(at(data, key)) ?? '', 'base64').toString('latin1');
  const problem = tlsPairProblem(decoded('tls.crt'), decoded('tls.key'));
  return problem === undefined ? [] : [problem];
}

/** `stringData` is for writing only: it becomes `data`. */
function withStringData(secret: ApiObject): ApiObject {
  const { stringData, ...rest } = secret;
  if (stringData === undefined) return secret;
  const encoded = Object.entries(record(stringData)).map(
    ([key, value]) => [key, Buffer.from(String(value), 'utf8').toString('base64')] as const,
  );
  return { ...rest, metadata: secret.metadata, data: { ...record(secret.data), ...Object.fromEntries(encoded) } };
}

/** With `immutable: true` neither the flag nor the data may ever change. */
function immutableErrors(object: ApiObject, current: ApiObject, fields: readonly string[]): readonly FieldError[] {
  if (current.immutable !== true) return [];
  const problem = 'field is immutable when `immutable` is set';
  return ['immutable', ...fields]
    .filter((field) => !deepEqual(object[field], current[field]))
    .map((field) => fieldError.forbidden(field, problem));
}
