import type { JsonRecord } from '../json.js';
import { type FieldType, type ObjectType, objectType } from '../types/field-types.js';
import { bytesAt, decodeText, integerOf, isEmptyValue, specialType, textAt, unwrapped } from './special-types.js';
import { ProtobufError, type WireField, wireFields } from './wire.js';

/** Messages within messages; CustomResourceDefinitions' schemas are the deepest that anyone sends. */
const maxDepth = 100;
const magic = [0x6b, 0x38, 0x73, 0x00];

/** The envelope of every protobuf body of Kubernetes: what the object is, and the object's bytes. */
export interface Envelope {
  readonly apiVersion: string;
  readonly kind: string;
  readonly raw: Uint8Array;
}

/** Reads `k8s\0` and runtime.Unknown. Throws `ProtobufError`. */
export function decodeEnvelope(body: Uint8Array): Envelope {
  if (!magic.every((byte, index) => body[index] === byte)) {
    throw new ProtobufError('provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]');
  }
  const unknown = body.subarray(magic.length);
  const typeMeta = bytesAt(unknown, 1);
  return { apiVersion: textAt(typeMeta, 1), kind: textAt(typeMeta, 2), raw: bytesAt(unknown, 2) };
}

/**
 * A message as the JSON that a client of the JSON API would have sent. Fields that the type does not know are passed
 * over, as every protobuf reader does. Throws `ProtobufError`.
 */
export function decodeMessage(typeName: string, bytes: Uint8Array): JsonRecord {
  const type = objectType(typeName);
  if (type === undefined) throw new ProtobufError(`no type ${typeName} is known here`);
  return decodeFields(type, bytes, 1);
}

function decodeFields(type: ObjectType, bytes: Uint8Array, depth: number): JsonRecord {
  if (depth > maxDepth) throw new ProtobufError(`more than ${maxDepth} messages within one another`);
  const values = new Map<string, unknown>();
  const lists = new Map<string, unknown[]>();
  const maps = new Map<string, Map<string, unknown>>();
  for (const wire of wireFields(bytes)) {
    const field = type.byNumber.get(wire.number);
    if (field === undefined) continue;
    if (field.shape === 'map') {
      const [key, value] = decodeEntry(field, wire, depth);
      entryOf(maps, field.name, () => new Map<string, unknown>()).set(key, value);
    } else if (field.shape === 'list') {
      entryOf(lists, field.name, () => []).push(decodeValue(field, wire, depth));
    } else if (field.isInline) {
      const inline = decodeValue(field, wire, depth);
      for (const [name, value] of Object.entries(inline ?? {})) values.set(name, value);
    } else {
      const value = decodeValue(field, wire, depth);
      if (value !== undefined && !(field.isEmptyAbsent && isEmptyValue(value))) values.set(field.name, value);
    }
  }
  const objects = [...maps].map(([name, entries]) => [name, Object.fromEntries(entries)] as const);
  return Object.fromEntries([...values, ...lists, ...objects]);
}

function entryOf<Value>(entries: Map<string, Value>, name: string, make: () => Value): Value {
  const known = entries.get(name);
  if (known !== undefined) return known;
  const made = make();
  entries.set(name, made);
  return made;
}

/** An entry of a map is a message of its key (1) and its value (2). */
function decodeEntry(field: FieldType, wire: WireField, depth: number): readonly [string, unknown] {
  const bytes = bytesOf(field, wire);
  for (const inner of wireFields(bytes)) {
    if (inner.number === 2) return [textAt(bytes, 1), decodeValue(field, inner, depth)];
  }
  return [textAt(bytes, 1), field.type === 'string' || field.type === 'bytes' ? '' : {}];
}

function decodeValue(field: FieldType, wire: WireField, depth: number): unknown {
  switch (field.type) {
    case 'string':
      return decodeText(bytesOf(field, wire));
    case 'bytes':
      return Buffer.from(bytesOf(field, wire)).toString('base64');
    case 'bool':
      return varintOf(field, wire) !== 0n;
    case 'int32':
      return Number(BigInt.asIntN(32, varintOf(field, wire)));
    case 'int64':
      return integerOf(varintOf(field, wire));
    case 'double':
      return doubleOf(field, wire);
    default:
      return decodeTyped(field, bytesOf(field, wire), depth);
  }
}

function decodeTyped(field: FieldType, bytes: Uint8Array, depth: number): unknown {
  const special = specialType(field.type);
  if (special !== undefined) return special(bytes);
  const type = objectType(field.type);
  if (type === undefined) throw new ProtobufError(`no type ${field.type} is known here`);
  return unwrapped(field.type, decodeFields(type, bytes, depth + 1));
}

function bytesOf(field: FieldType, wire: WireField): Uint8Array {
  if (wire.wire === 'bytes') return wire.bytes;
  throw wrongWire(field, wire);
}

function varintOf(field: FieldType, wire: WireField): bigint {
  if (wire.wire === 'varint') return wire.value;
  throw wrongWire(field, wire);
}

function doubleOf(field: FieldType, wire: WireField): number {
  if (wire.wire !== 'fixed64') throw wrongWire(field, wire);
  return new DataView(wire.bytes.buffer, wire.bytes.byteOffset, 8).getFloat64(0, true);
}

function wrongWire(field: FieldType, { wire }: WireField): ProtobufError {
  return new ProtobufError(`wrong wire type ${wire} of field ${field.name} (${field.number})`);
}
