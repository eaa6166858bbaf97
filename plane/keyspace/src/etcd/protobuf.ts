/**
 * Protocol Buffers by tables: a message is a record of fields, from which its TypeScript type, its writer and its
 * reader follow. What etcd's messages need and no more: varints, bytes, strings, nested messages, repeated fields.
 * Source: protobuf.dev, "Encoding".
 */
export interface Message<Value> {
  /** A field that is not given is not written, and is its zero at the other side. */
  encode(value: Partial<Value>): Buffer;
  /** Unknown fields are passed over. Throws a RangeError when the bytes are not a message. */
  decode(encoded: Uint8Array): Value;
  write(writer: Writer, value: Partial<Value>): void;
  /** Reads up to the position `end`. */
  read(reader: Reader, end: number): Value;
}

export type ValueOf<Type> = Type extends Message<infer Value> ? Value : never;

interface Field<Value, Written = Value> {
  readonly number: number;
  readonly wireType: WireType;
  /** What a message without the field holds. A new one each time, where it can be changed. */
  absent(): Value;
  write(writer: Writer, value: Written): void;
  /** `before`: what the message held until now; repeated fields add to it. */
  read(reader: Reader, before: Value): Value;
}

type Table = Readonly<Record<string, Field<unknown, never>>>;
type ValuesOf<Fields> = {
  readonly [Name in keyof Fields]: Fields[Name] extends { absent(): infer Value } ? Value : never;
};

type WireType = typeof varintType | typeof lengthType;
const varintType = 0;
const fixed64Type = 1;
const lengthType = 2;
const fixed32Type = 5;

/** An int64, uint64 or enum whose values stay below 2^53: revisions, counts, sizes. */
export function int(number: number): Field<number> {
  return {
    number,
    wireType: varintType,
    absent: () => 0,
    write: (writer, value) => {
      writer.tag(number, varintType);
      writer.varint(value);
    },
    read: (reader) => reader.varint(),
  };
}

/** An int64 of any value: lease ids. */
export function bigInt(number: number): Field<bigint> {
  return {
    number,
    wireType: varintType,
    absent: () => 0n,
    write: (writer, value) => {
      writer.tag(number, varintType);
      writer.bigVarint(BigInt.asUintN(64, value));
    },
    read: (reader) => BigInt.asIntN(64, reader.bigVarint()),
  };
}

export function bool(number: number): Field<boolean> {
  return {
    number,
    wireType: varintType,
    absent: () => false,
    write: (writer, value) => {
      writer.tag(number, varintType);
      writer.varint(value ? 1 : 0);
    },
    read: (reader) => reader.varint() !== 0,
  };
}

/** What is read is a view of the message's bytes. */
export function bytes(number: number): Field<Uint8Array> {
  return {
    number,
    wireType: lengthType,
    absent: () => nothing,
    write: (writer, value) => {
      writer.tag(number, lengthType);
      writer.varint(value.length);
      writer.bytes(value);
    },
    read: (reader) => reader.bytes(reader.varint()),
  };
}

export function string(number: number): Field<string> {
  const { write, read } = bytes(number);
  return {
    number,
    wireType: lengthType,
    absent: () => '',
    write: (writer, value) => write(writer, Buffer.from(value)),
    read: (reader) => Buffer.from(read(reader, nothing)).toString(),
  };
}

/** A nested message of an answer; `undefined` when it is absent. */
export function nested<Value>(
  number: number,
  type: Message<Value>,
): Field<Value | undefined, Partial<Value> | undefined> {
  return {
    number,
    wireType: lengthType,
    absent: () => undefined,
    write: (writer, value) => {
      if (value === undefined) return;
      const inner = new Writer();
      type.write(inner, value);
      writer.tag(number, lengthType);
      writer.varint(inner.length);
      writer.append(inner);
    },
    read: (reader): Value => {
      const length = reader.varint();
      return type.read(reader, reader.position + length);
    },
  };
}

/** A nested message of a request, of which only a part need be given. */
export function part<Value>(number: number, type: Message<Value>): Field<Partial<Value> | undefined> {
  return nested(number, type);
}

export function repeated<Value, Written>(
  field: Field<Value, Written>,
): Field<readonly Defined<Value>[], readonly Written[]> {
  return {
    number: field.number,
    wireType: field.wireType,
    absent: () => [],
    write: (writer, values) => {
      for (const value of values) field.write(writer, value);
    },
    read: (reader, before) => {
      // It is this message's own array until the message has been read.
      (before as Defined<Value>[]).push(field.read(reader, field.absent()) as Defined<Value>);
      return before;
    },
  };
}

type Defined<Value> = Exclude<Value, undefined>;

export function message<Fields extends Table>(table: Fields): Message<ValuesOf<Fields>> {
  type Values = ValuesOf<Fields>;
  const fields = Object.entries(table as unknown as Readonly<Record<string, Field<unknown>>>);
  const byNumber = new Map(fields.map(([name, field]) => [field.number, { name, field }]));

  function write(writer: Writer, values: Partial<Values>): void {
    const given = values as Readonly<Record<string, unknown>>;
    for (const [name, field] of fields) {
      const value = given[name];
      if (value !== undefined) field.write(writer, value);
    }
  }

  function read(reader: Reader, end: number): Values {
    const values: Record<string, unknown> = {};
    for (const [name, field] of fields) values[name] = field.absent();
    while (reader.position < end) {
      const tag = reader.varint();
      const known = byNumber.get(Math.floor(tag / 8));
      if (known?.field.wireType !== tag % 8) reader.skip(tag % 8);
      else values[known.name] = known.field.read(reader, values[known.name]);
    }
    if (reader.position !== end) throw new RangeError('a protobuf message ends in the middle of a field');
    return values as Values;
  }

  return {
    write,
    read,
    encode(values) {
      const writer = new Writer();
      write(writer, values);
      return writer.finish();
    },
    decode: (encoded) => read(new Reader(encoded), encoded.length),
  };
}

const nothing = new Uint8Array(0);

/** Pieces of a message, joined once at the end: a value is copied once, however deep it lies. */
export class Writer {
  readonly #pieces: Uint8Array[] = [];
  length = 0;

  tag(number: number, type: number): void {
    this.varint(number * 8 + type);
  }

  varint(value: number): void {
    if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`${value} cannot be written as a varint`);
    const encoded: number[] = [];
    let rest = value;
    for (; rest >= 128; rest = Math.floor(rest / 128)) encoded.push((rest % 128) + 128);
    encoded.push(rest);
    this.bytes(Uint8Array.from(encoded));
  }

  bigVarint(value: bigint): void {
    const encoded: number[] = [];
    let rest = value;
    for (; rest >= 128n; rest >>= 7n) encoded.push(Number(rest & 127n) + 128);
    encoded.push(Number(rest));
    this.bytes(Uint8Array.from(encoded));
  }

  bytes(piece: Uint8Array): void {
    this.#pieces.push(piece);
    this.length += piece.length;
  }

  append(other: Writer): void {
    for (const piece of other.#pieces) this.bytes(piece);
  }

  finish(): Buffer {
    return Buffer.concat(this.#pieces, this.length);
  }
}

export class Reader {
  readonly #bytes: Uint8Array;
  position = 0;

  constructor(encoded: Uint8Array) {
    this.#bytes = encoded;
  }

  /** Exact below 2^53. */
  varint(): number {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = this.#next();
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  }

  bigVarint(): bigint {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = this.#next();
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
  }

  bytes(length: number): Uint8Array {
    const end = this.position + length;
    if (end > this.#bytes.length) throw new RangeError('a protobuf message ends in the middle of a field');
    const piece = this.#bytes.subarray(this.position, end);
    this.position = end;
    return piece;
  }

  skip(type: number): void {
    if (type === varintType) this.bigVarint();
    else if (type === fixed64Type) this.bytes(8);
    else if (type === lengthType) this.bytes(this.varint());
    else if (type === fixed32Type) this.bytes(4);
    else throw new RangeError(`wire type ${type} is not of protobuf version 3`);
  }

  #next(): number {
    const byte = this.#bytes[this.position];
    if (byte === undefined) throw new RangeError('a protobuf message ends in the middle of a number');
    this.position += 1;
    return byte;
  }
}
