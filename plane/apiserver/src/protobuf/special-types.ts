import { numberOf, parseExactJson } from '@castellan/machinery';
import { isRecord, type JsonRecord } from '../json.js';
import { ProtobufError, type WireField, wireFields } from './wire.js';

/** Types of which the JSON is not an object of the message's fields. Source: their MarshalJSON in apimachinery. */
const specialTypes: ReadonlyMap<string, (bytes: Uint8Array) => unknown> = new Map<
  string,
  (bytes: Uint8Array) => unknown
>([
  ['Time', (bytes) => timeOf(bytes, (iso) => `${iso.slice(0, 19)}Z`)],
  ['MicroTime', microTimeOf],
  ['Quantity', (bytes) => textAt(bytes, 1) || '0'],
  ['IntOrString', intOrString],
  ['RawExtension', (bytes) => jsonAt(bytes, 1)],
  ['FieldsV1', (bytes) => jsonAt(bytes, 1)],
  ['Json', (bytes) => jsonAt(bytes, 1)],
]);

/** The JSON of a special type; undefined for a type that is none. */
export function specialType(name: string): ((bytes: Uint8Array) => unknown) | undefined {
  return specialTypes.get(name);
}

/** What a decoded message stands for, where its JSON is one of its fields. */
export function unwrapped(type: string, value: JsonRecord): unknown {
  switch (type) {
    case 'authentication/v1.ExtraValue':
    case 'authorization/v1.ExtraValue':
    case 'certificates/v1.ExtraValue':
      return value.items ?? [];
    case 'apiextensions/v1.JSONSchemaPropsOrArray':
      return value.schema ?? value.jSONSchemas ?? null;
    case 'apiextensions/v1.JSONSchemaPropsOrBool':
      return value.schema ?? value.allows ?? false;
    case 'apiextensions/v1.JSONSchemaPropsOrStringArray':
      return value.schema ?? value.property ?? null;
    default:
      return value;
  }
}

/** Go's zero time is an empty message: no time at all. */
function timeOf(bytes: Uint8Array, format: (iso: string) => string): string | undefined {
  const seconds = integerAt(bytes, 1);
  return seconds === undefined ? undefined : format(isoOf(seconds));
}

function microTimeOf(bytes: Uint8Array): string | undefined {
  const micros = String(Math.floor((integerAt(bytes, 2) ?? 0) / 1000)).padStart(6, '0');
  return timeOf(bytes, (iso) => `${iso.slice(0, 19)}.${micros}Z`);
}

function isoOf(seconds: number): string {
  const date = new Date(seconds * 1000);
  if (Number.isNaN(date.getTime()) || date.getUTCFullYear() > 9999 || date.getUTCFullYear() < 0) {
    throw new ProtobufError(`time out of range: ${seconds} s`);
  }
  return date.toISOString();
}

function intOrString(bytes: Uint8Array): number | string {
  return integerAt(bytes, 1) === 1 ? textAt(bytes, 3) : (integerAt(bytes, 2) ?? 0);
}

function jsonAt(bytes: Uint8Array, number: number): unknown {
  const text = textAt(bytes, number);
  if (text === '') return undefined;
  try {
    return parseExactJson(text);
  } catch (error) {
    throw new ProtobufError(`raw JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** A signed integer of 64 bits; a `bigint` only where a number cannot hold it. */
export function integerOf(value: bigint): number | bigint {
  return numberOf(String(BigInt.asIntN(64, value)));
}

function integerAt(bytes: Uint8Array, number: number): number | undefined {
  const field = lastOf(bytes, number);
  return field?.wire === 'varint' ? Number(integerOf(field.value)) : undefined;
}

export function textAt(bytes: Uint8Array, number: number): string {
  const field = lastOf(bytes, number);
  return field?.wire === 'bytes' ? decodeText(field.bytes) : '';
}

export function bytesAt(bytes: Uint8Array, number: number): Uint8Array {
  const field = lastOf(bytes, number);
  return field?.wire === 'bytes' ? field.bytes : new Uint8Array();
}

/** Of a field that is there more than once the last one holds. */
function lastOf(bytes: Uint8Array, number: number): WireField | undefined {
  let last: WireField | undefined;
  for (const field of wireFields(bytes)) if (field.number === number) last = field;
  return last;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

export function decodeText(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch (error) {
    throw new ProtobufError('text is not valid UTF-8', { cause: error });
  }
}

export function isEmptyValue(value: unknown): boolean {
  return value === '' || value === 0 || value === false || (isRecord(value) && Object.keys(value).length === 0);
}
