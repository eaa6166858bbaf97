import type { FieldError } from '../validation/field-error.js';
import { noField } from '../validation/field-error.js';

/** One compiled demand of a schema on values of type `T`. */
export interface Check<T = unknown> {
  /** The fast path, on every write: allocates nothing. */
  holds(value: T): boolean;
  /** The slow path, when a value does not hold: reports each violation with its place. */
  explain(value: T, at: Place): void;
}

/** Where in an object a value stands. */
export interface Place {
  /** `spec.members[0]`; '' at the root. */
  readonly path: string;
  /** What stood here before an update. A value that is unchanged is not complained of; `undefined` where unknown. */
  readonly old: unknown;
  report(error: FieldError): void;
}

/** How an error names this place's field. */
export function fieldOf(at: Place): string {
  return at.path === '' ? noField : at.path;
}

export function childPath(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`;
}
