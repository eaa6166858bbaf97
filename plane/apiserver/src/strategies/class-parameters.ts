import { type FieldError, fieldError } from '@castellan/machinery';
import { record, text } from '../json.js';
import { qualifiedErrors } from '../pods/scalar-rules.js';

const mostParameters = 512;
/** In bytes, keys and values together. */
const largestParameters = 256 * 1024;

/** Who makes volumes of a class: a name that may have a domain. */
export function driverNameErrors(value: unknown, path: string): readonly FieldError[] {
  const name = text(value) ?? '';
  if (name === '') return [fieldError.required(path)];
  return qualifiedErrors(name.toLowerCase(), path);
}

/** What a class tells its driver. Source: validateParameters of storage.k8s.io. */
export function parameterErrors(parameters: unknown, path: string): readonly FieldError[] {
  const entries = Object.entries(record(parameters));
  if (entries.length > mostParameters) return [fieldError.tooLong(path, mostParameters)];
  const bytes = entries.reduce(
    (sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(text(value) ?? ''),
    0,
  );
  return [
    ...entries.filter(([key]) => key === '').map(() => fieldError.invalid(path, '', 'field can not be empty.')),
    ...(bytes > largestParameters ? [fieldError.tooLong(path, largestParameters)] : []),
  ];
}
