import { builtInTypesOf, type FieldTypes, untyped } from '@castellan/machinery';
import { type FieldType, objectType, typeNameOf } from './field-types.js';

const scalars: Readonly<Record<string, string>> = {
  string: 'string',
  bytes: 'string',
  Time: 'string',
  MicroTime: 'string',
  bool: 'boolean',
  int32: 'integer',
  int64: 'integer',
  double: 'number',
};
const openTypes: ReadonlySet<string> = new Set(['RawExtension', 'FieldsV1', 'Json']);

const known = new Map<string, FieldTypes>();

/** The types of a built-in kind for server-side apply: which fields there are, and of which scalar type. */
export function applyTypesOf(kind: { readonly group: string; readonly version: string; readonly kind: string }) {
  const name = typeNameOf(kind);
  const before = known.get(name);
  if (before !== undefined) return before;
  const types = objectType(name) === undefined ? builtInTypesOf(kind) : new TopLevel(name, builtInTypesOf(kind));
  known.set(name, types);
  return types;
}

/** A place in an object of a built-in kind; how lists merge is what `builtInTypes` says of the same place. */
class Place implements FieldTypes {
  readonly isAtomicObject: boolean;
  readonly list: FieldTypes['list'];
  readonly scalar: string;
  readonly #type: FieldType;
  /** The value of the whole field, or one item or entry of it. */
  readonly #isElement: boolean;
  readonly #merging: FieldTypes;

  constructor(type: FieldType, isElement: boolean, merging: FieldTypes) {
    this.#type = type;
    this.#isElement = isElement;
    this.#merging = merging;
    this.isAtomicObject = merging.isAtomicObject;
    this.list = merging.list;
    this.scalar = isElement || type.shape === 'one' ? (scalars[type.type] ?? '') : '';
  }

  isDeclared(name: string): boolean {
    return !this.#isMap && objectType(this.#type.type)?.byName.has(name) === true;
  }

  field(name: string): FieldTypes | undefined {
    if (openTypes.has(this.#type.type)) return untyped;
    const merging = this.#merging.field(name) ?? untyped;
    if (this.#isMap) return new Place(this.#type, true, merging);
    const type = objectType(this.#type.type);
    if (type === undefined || this.#type.type.startsWith('apiextensions/')) return untyped;
    const field = type.byName.get(name);
    return field === undefined ? undefined : new Place(field, false, merging);
  }

  get items(): FieldTypes {
    return new Place(this.#type, true, this.#merging.items);
  }

  get #isMap(): boolean {
    return this.#type.shape === 'map' && !this.#isElement;
  }
}

/** The object itself, which says of what kind it is. */
class TopLevel extends Place {
  constructor(name: string, merging: FieldTypes) {
    super({ name, number: 0, type: name, shape: 'one', isEmptyAbsent: false, isInline: false }, false, merging);
  }

  override isDeclared(name: string): boolean {
    return isTypeMeta(name) || super.isDeclared(name);
  }

  override field(name: string): FieldTypes | undefined {
    return isTypeMeta(name) ? untyped : super.field(name);
  }
}

function isTypeMeta(name: string): boolean {
  return name === 'apiVersion' || name === 'kind';
}
