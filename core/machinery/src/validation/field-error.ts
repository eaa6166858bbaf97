import { StatusError } from '../status-error.js';
import { goJson, goJsonInOrder } from '../value/canonical-json.js';

/** What can be wrong with a field, with the words that messages begin with and the reason of the Status cause. */
const fieldErrorTypes = {
  Required: { words: 'Required value', reason: 'FieldValueRequired' },
  Invalid: { words: 'Invalid value', reason: 'FieldValueInvalid' },
  TypeInvalid: { words: 'Invalid value', reason: 'FieldValueTypeInvalid' },
  NotSupported: { words: 'Unsupported value', reason: 'FieldValueNotSupported' },
  NotFound: { words: 'Not found', reason: 'FieldValueNotFound' },
  Duplicate: { words: 'Duplicate value', reason: 'FieldValueDuplicate' },
  Forbidden: { words: 'Forbidden', reason: 'FieldValueForbidden' },
  TooLong: { words: 'Too long', reason: 'FieldValueTooLong' },
  TooMany: { words: 'Too many', reason: 'FieldValueTooMany' },
} as const;

export type FieldErrorType = keyof typeof fieldErrorTypes;

/** One thing that is wrong with an object, in the words of kube-apiserver (`field.Error`). */
export interface FieldError {
  readonly type: FieldErrorType;
  /** `spec.size`, `spec.members[0].name`, `metadata.labels[app]`; `<nil>` where no single field is at fault. */
  readonly field: string;
  /** Without the field: `Invalid value: 8: must be odd`. */
  readonly message: string;
}

/** The field of an error that no single field is at fault for. */
export const noField = '<nil>';

/** Makes field errors of each type with the words of kube-apiserver. */
export const fieldError = {
  required: (field: string, detail = '') => make('Required', field, undefined, detail),
  invalid: (field: string, value: unknown, detail: string) => make('Invalid', field, value, detail),
  typeInvalid: (field: string, value: unknown, detail: string) => make('TypeInvalid', field, value, detail),
  notSupported: (field: string, value: unknown, supported: readonly string[]) =>
    make('NotSupported', field, value, `supported values: ${supported.map((each) => JSON.stringify(each)).join(', ')}`),
  notFound: (field: string, value: unknown) => make('NotFound', field, value, ''),
  duplicate: (field: string, value: unknown, detail = '') => make('Duplicate', field, value, detail),
  forbidden: (field: string, detail: string) => make('Forbidden', field, undefined, detail),
  /** `limit` is said in bytes, as upstream does, also where characters are counted. */
  tooLong: (field: string, limit: number) =>
    make('TooLong', field, undefined, `may not be more than ${limit} byte${limit === 1 ? '' : 's'}`),
  tooMany: (field: string, count: number, limit: number) =>
    make('TooMany', field, count, `must have at most ${limit} item${limit === 1 ? '' : 's'}`),
} as const;

function make(type: FieldErrorType, field: string, value: unknown, detail: string): FieldError {
  const { words } = fieldErrorTypes[type];
  const parts = [words, ...(value === undefined ? [] : [formatValue(value)]), ...(detail === '' ? [] : [detail])];
  return { type, field, message: parts.join(': ') };
}

/** A Go structure (or a list of them): messages show its fields in the order that they have here, not sorted. */
export class ShownValue {
  readonly text: string;

  constructor(structure: object) {
    this.text = goJsonInOrder(structure);
  }
}

function formatValue(value: unknown): string {
  if (value instanceof ShownValue) return value.text;
  return typeof value === 'string' ? goQuoted(value) : goJson(value);
}

/** Go writes control characters with two digits where JSON has four. */
function goQuoted(text: string): string {
  return JSON.stringify(text).replace(/(?<!\\)((?:\\\\)*)\\u00([01][0-9a-f])/g, '$1\\x$2');
}

/** `spec.size: Invalid value: 8: must be odd` */
export function formatFieldError(error: FieldError): string {
  return `${error.field}: ${error.message}`;
}

/**
 * The 422 reply for an object that does not hold: `EtcdCluster.etcd.database.coreos.com "x" is invalid: spec.size: …`.
 * `type.group` is '' for the core group.
 */
export function invalidError(
  type: { readonly group: string; readonly kind: string },
  name: string,
  errors: readonly FieldError[],
): StatusError {
  const kind = type.group === '' ? type.kind : `${type.kind}.${type.group}`;
  const messages = [...new Set(errors.map(formatFieldError))];
  const what = messages.length > 1 ? `[${messages.join(', ')}]` : messages.join('');
  return StatusError.of('Invalid', `${kind} ${JSON.stringify(name)} is invalid${what === '' ? '' : `: ${what}`}`, {
    ...(name === '' ? {} : { name }),
    ...(type.group === '' ? {} : { group: type.group }),
    ...(type.kind === '' ? {} : { kind: type.kind }),
    causes: errors.map((error) => ({
      reason: fieldErrorTypes[error.type].reason,
      message: error.message,
      ...(error.field === '' ? {} : { field: error.field }),
    })),
  });
}
