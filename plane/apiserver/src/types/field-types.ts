import { fieldTable } from './field-table.gen.js';

/** One field of a built-in kind's type. */
export interface FieldType {
  readonly name: string;
  /** In the protobuf encoding. */
  readonly number: number;
  /** `string`, `int32`, `int64`, `bool`, `bytes`, `double`, a type known by name (`Quantity`), or `core/v1.PodSpec`. */
  readonly type: string;
  readonly shape: 'one' | 'list' | 'map';
  /** An empty value says the same as none. */
  readonly isEmptyAbsent: boolean;
  /** In protobuf the fields are those of a message of their own. */
  readonly isInline: boolean;
}

export interface ObjectType {
  readonly name: string;
  readonly byNumber: ReadonlyMap<number, FieldType>;
  /** By name in JSON: inline fields are in their own places. */
  readonly byName: ReadonlyMap<string, FieldType>;
}

/** The type of a kind, as in `core/v1.Pod`. */
export function typeNameOf(type: { readonly group: string; readonly version: string; readonly kind: string }): string {
  const [group = ''] = type.group.split('.');
  return `${group === '' ? 'core' : group}/${type.version}.${type.kind}`;
}

const parsed = new Map<string, ObjectType>();

/** The fields of a type, parsed when first asked for; undefined for types that are no messages. */
export function objectType(name: string): ObjectType | undefined {
  const known = parsed.get(name);
  if (known !== undefined) return known;
  const row = Object.hasOwn(fieldTable, name) ? fieldTable[name] : undefined;
  if (row === undefined) return undefined;
  const fields = row === '' ? [] : row.split(' ').map(parseField);
  const type = {
    name,
    byNumber: new Map(fields.map((field) => [field.number, field])),
    byName: new Map(fields.flatMap(inPlace).map((field) => [field.name, field])),
  };
  parsed.set(name, type);
  return type;
}

const fieldSyntax = /^([^=]+)=(\d+):(.+?)(\[\]|\{\}|\?)?$/;

function parseField(text: string): FieldType {
  const [, name = '', number = '', type = '', suffix = ''] = fieldSyntax.exec(text) ?? [];
  return {
    name,
    number: Number(number),
    type,
    shape: suffix === '[]' ? 'list' : suffix === '{}' ? 'map' : 'one',
    isEmptyAbsent: suffix === '?',
    isInline: name === '~',
  };
}

function inPlace(field: FieldType): readonly FieldType[] {
  return field.isInline ? [...(objectType(field.type)?.byName.values() ?? [])] : [field];
}
