/**
 * A value of the Common Expression Language. `bigint` is int, `number` is double. Lists that came from a field with
 * `x-kubernetes-list-type` are compared by it: see `listRules`.
 */
export type CelValue =
  | null
  | boolean
  | bigint
  | number
  | string
  | Uint8Array
  | readonly CelValue[]
  | CelMap
  | CelObject;

/** A value of a type that the language does not have itself: a time, a quantity, an address. */
export interface CelObject {
  /** As `type()` names it: `kubernetes.Quantity`. */
  readonly celType: string;
  equals(other: CelValue): boolean;
  /** Below 0 when this is before `other`. Absent for types without an order. */
  compare?(other: CelValue): number;
}

/** A map, or an object of a schema. */
export interface CelMap {
  readonly isMap: true;
  readonly size: number;
  keys(): readonly CelValue[];
  get(key: CelValue): CelValue | undefined;
}

export function isCelMap(value: CelValue): value is CelMap {
  return typeof value === 'object' && value !== null && 'isMap' in value;
}

export function isCelList(value: CelValue): value is readonly CelValue[] {
  return Array.isArray(value);
}

export function isCelObject(value: CelValue): value is CelObject {
  return typeof value === 'object' && value !== null && 'celType' in value;
}

/** A map that an expression made. */
export class LiteralMap implements CelMap {
  readonly isMap = true;
  private readonly entries = new Map<CelValue, CelValue>();

  constructor(entries: Iterable<readonly [CelValue, CelValue]>) {
    for (const [key, value] of entries) this.entries.set(keyOf(key), value);
  }

  get size(): number {
    return this.entries.size;
  }

  keys(): readonly CelValue[] {
    return [...this.entries.keys()];
  }

  get(key: CelValue): CelValue | undefined {
    return this.entries.get(keyOf(key));
  }
}

/** 1 and 1.0 are one key. */
function keyOf(key: CelValue): CelValue {
  return typeof key === 'number' && Number.isInteger(key) ? BigInt(key) : key;
}

/** What tells the items of a list of type `set` or `map` apart: a text per item. */
export const listRules = new WeakMap<readonly CelValue[], { readonly keys: readonly string[] }>();

/** `optional_type` of the language. */
export class CelOptional implements CelObject {
  readonly celType = 'optional_type';
  readonly value: CelValue | undefined;

  constructor(value: CelValue | undefined) {
    this.value = value;
  }

  equals(other: CelValue): boolean {
    if (!(other instanceof CelOptional)) return false;
    if (this.value === undefined || other.value === undefined) return this.value === other.value;
    return celEquals(this.value, other.value);
  }
}

/** What `type(x)` is. */
export class CelType implements CelObject {
  readonly celType = 'type';
  readonly typeName: string;

  constructor(typeName: string) {
    this.typeName = typeName;
  }

  equals(other: CelValue): boolean {
    return other instanceof CelType && other.typeName === this.typeName;
  }
}

export class CelUint implements CelObject {
  readonly celType = 'uint';
  readonly value: bigint;

  constructor(value: bigint) {
    this.value = value;
  }

  equals(other: CelValue): boolean {
    const number = other instanceof CelUint ? other.value : other;
    return (typeof number === 'bigint' || typeof number === 'number') && Number(number) === Number(this.value);
  }

  compare(other: CelValue): number {
    const number = other instanceof CelUint ? other.value : other;
    return this.value < Number(number) ? -1 : this.value > Number(number) ? 1 : 0;
  }
}

export function celEquals(left: CelValue, right: CelValue): boolean {
  if (left === right) return true;
  if (isCelObject(left)) return left.equals(right);
  if (isCelObject(right)) return right.equals(left);
  if (typeof left === 'bigint' || typeof left === 'number') {
    return (typeof right === 'bigint' || typeof right === 'number') && Number(left) === Number(right);
  }
  if (left instanceof Uint8Array)
    return (
      right instanceof Uint8Array && left.length === right.length && left.every((byte, index) => byte === right[index])
    );
  if (left === null || right === null || typeof left !== 'object' || typeof right !== 'object') return false;
  if (isCelList(left)) return isCelList(right) && listsEqual(left, right);
  return isCelMap(left) && isCelMap(right) && mapsEqual(left, right);
}

function mapsEqual(left: CelMap, right: CelMap): boolean {
  if (left.size !== right.size) return false;
  return left.keys().every((key) => {
    const one = left.get(key);
    const other = right.get(key);
    return one !== undefined && other !== undefined && celEquals(one, other);
  });
}

/** Sets and lists by key are equal whatever their order. */
function listsEqual(left: readonly CelValue[], right: readonly CelValue[]): boolean {
  if (left.length !== right.length) return false;
  if (!listRules.has(left)) return left.every((item, index) => celEquals(item, right[index] ?? null));
  return left.every((item) => right.some((other) => celEquals(item, other)));
}

export function typeNameOf(value: CelValue): string {
  if (value === null) return 'null_type';
  if (isCelObject(value)) return value.celType;
  if (isCelMap(value)) return 'map';
  if (isCelList(value)) return 'list';
  if (value instanceof Uint8Array) return 'bytes';
  const names: Readonly<Record<string, string>> = { bigint: 'int', number: 'double', boolean: 'bool' };
  return names[typeof value] ?? 'string';
}
