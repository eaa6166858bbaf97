import { isList, isRecord, type JsonRecord, ownValue } from '../value/record.js';
import { CelEvaluationError } from './cel-error.js';
import { escapeName, type ScalarName, type SchemaType } from './schema-type.js';
import { CelDuration, CelTimestamp } from './time.js';
import { type CelMap, type CelValue, listRules } from './value.js';

/** A JSON value as its schema has it appear in an expression. Members of objects are converted when they are asked for. */
export function celValueOf(value: unknown, type: SchemaType): CelValue {
  if (value === null || value === undefined) return null;
  switch (type.kind) {
    case 'scalar':
      return scalarOf(value, type.name);
    case 'list': {
      if (!isList(value)) throw mismatch('a list');
      const items = value.map((item) => celValueOf(item, type.items));
      if (type.keys !== undefined) listRules.set(items, { keys: type.keys });
      return items;
    }
    case 'map':
    case 'object':
      if (!isRecord(value)) throw mismatch('an object');
      return type.kind === 'map' ? new JsonMap(value, type.values) : new JsonObjectValue(value, type.fields);
    default:
      return type satisfies never;
  }
}

function scalarOf(value: unknown, name: ScalarName): CelValue {
  switch (name) {
    case 'int':
      if (typeof value === 'bigint') return value;
      if (typeof value === 'number' && Number.isInteger(value)) return BigInt(value);
      break;
    case 'double':
      if (typeof value === 'number' || typeof value === 'bigint') return Number(value);
      break;
    case 'bool':
      if (typeof value === 'boolean') return value;
      break;
    case 'dyn':
      return untyped(value);
    default:
      if (typeof value === 'string') return textOf(value, name);
  }
  throw mismatch(name);
}

function textOf(text: string, name: ScalarName): CelValue {
  switch (name) {
    case 'bytes':
      return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
    case 'duration':
      return CelDuration.parse(text);
    case 'timestamp':
      return CelTimestamp.parse(text);
    default:
      return text;
  }
}

/** JSON without a schema: whole numbers are int. */
export function untyped(value: unknown): CelValue {
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : value;
  if (typeof value === 'string' || typeof value === 'boolean' || typeof value === 'bigint') return value;
  if (isList(value)) return value.map(untyped);
  return isRecord(value) ? new JsonMap(value, { kind: 'scalar', name: 'dyn' }) : null;
}

function mismatch(wanted: string): CelEvaluationError {
  return new CelEvaluationError(`invalid data, expected ${wanted}`);
}

class JsonMap implements CelMap {
  readonly isMap = true;
  private readonly record: JsonRecord;
  private readonly values: SchemaType;
  private readonly converted = new Map<string, CelValue>();

  constructor(record: JsonRecord, values: SchemaType) {
    this.record = record;
    this.values = values;
  }

  get size(): number {
    return Object.keys(this.record).length;
  }

  keys(): readonly string[] {
    return Object.keys(this.record);
  }

  get(key: CelValue): CelValue | undefined {
    if (typeof key !== 'string' || !Object.hasOwn(this.record, key)) return undefined;
    const before = this.converted.get(key);
    if (before !== undefined) return before;
    const value = celValueOf(ownValue(this.record, key), this.values);
    this.converted.set(key, value);
    return value;
  }
}

/** An object of a schema: its members have the types, and the names, that the schema gives them. */
class JsonObjectValue implements CelMap {
  readonly isMap = true;
  private readonly record: JsonRecord;
  private readonly fields: ReadonlyMap<string, SchemaType>;
  private readonly names: ReadonlyMap<string, string>;
  private readonly converted = new Map<string, CelValue>();

  constructor(record: JsonRecord, fields: ReadonlyMap<string, SchemaType>) {
    this.record = record;
    this.fields = fields;
    this.names = new Map(Object.keys(record).map((name) => [escapeName(name), name]));
  }

  get size(): number {
    return this.names.size;
  }

  keys(): readonly string[] {
    return [...this.names.keys()];
  }

  get(key: CelValue): CelValue | undefined {
    const name = typeof key === 'string' ? this.names.get(key) : undefined;
    if (typeof key !== 'string' || name === undefined) return undefined;
    const before = this.converted.get(key);
    if (before !== undefined) return before;
    const type = this.fields.get(key);
    const raw = ownValue(this.record, name);
    const value = type === undefined ? untyped(raw) : celValueOf(raw, type);
    this.converted.set(key, value);
    return value;
  }
}
