import { type FieldError, fieldError } from './field-error.js';
import { byteLength, labelValueErrors, qualifiedNameErrors } from './names.js';

/** What is wrong with the keys and values of labels; `path` is that of the map. */
export function labelErrors(labels: Readonly<Record<string, unknown>>, path: string): readonly FieldError[] {
  return Object.entries(labels).flatMap(([key, value]) => [
    ...qualifiedNameErrors(key).map((detail) => fieldError.invalid(path, key, detail)),
    ...(typeof value === 'string' ? labelValueErrors(value) : []).map((detail) =>
      fieldError.invalid(path, value, detail),
    ),
  ]);
}

/** In bytes, keys and values together. */
const mostAnnotations = 256 * 1024;

/** What is wrong with annotations; `path` is that of the map. */
export function annotationErrors(annotations: Readonly<Record<string, unknown>>, path: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  let bytes = 0;
  for (const [key, value] of Object.entries(annotations)) {
    errors.push(...qualifiedNameErrors(key.toLowerCase()).map((detail) => fieldError.invalid(path, key, detail)));
    bytes += byteLength(key) + (typeof value === 'string' ? byteLength(value) : 0);
  }
  return bytes > mostAnnotations ? [...errors, fieldError.tooLong(path, mostAnnotations)] : errors;
}
