import { type FieldError, fieldError } from './field-error.js';
import { labelValueErrors, qualifiedNameErrors } from './names.js';

/** What is wrong with the keys and values of labels; `path` is that of the map. */
export function labelErrors(labels: Readonly<Record<string, unknown>>, path: string): readonly FieldError[] {
  return Object.entries(labels).flatMap(([key, value]) => [
    ...qualifiedNameErrors(key).map((detail) => fieldError.invalid(path, key, detail)),
    ...(typeof value === 'string' ? labelValueErrors(value) : []).map((detail) =>
      fieldError.invalid(path, value, detail),
    ),
  ]);
}
