/** What server-side apply must know of the value at one place: who of several managers owns what of it. */
export interface FieldTypes {
  /** Whether an object here is one value; else each of its fields has its own managers. */
  readonly isAtomicObject: boolean;
  /** Whether a list here is one value, a set of values, or objects told apart by keys. */
  readonly list: 'atomic' | 'set' | { readonly keys: readonly ListKey[] };
  /** The scalar type that a value here must have; '' where any will do. */
  readonly scalar: string;
  /** Whether this field is part of the type; else it is an entry of a map, or unknown. */
  isDeclared(field: string): boolean;
  /** The types of a field; `undefined` where there can be none of that name. */
  field(name: string): FieldTypes | undefined;
  readonly items: FieldTypes;
}

export interface ListKey {
  readonly name: string;
  /** The value of an item that does not say. */
  readonly default?: unknown;
}

/** Where nothing is known: each field of an object is separate, a list is one value. */
export const untyped: FieldTypes = {
  isAtomicObject: false,
  list: 'atomic',
  scalar: '',
  isDeclared: () => false,
  field: () => untyped,
  get items() {
    return untyped;
  },
};
