/** A body that is not the protobuf encoding that it says it is. */
export class ProtobufError extends Error {
  override readonly name = 'ProtobufError';
}

/** One field as it stands in the bytes: its number and its value, still raw. */
export type WireField =
  | { readonly number: number; readonly wire: 'varint'; readonly value: bigint }
  | { readonly number: number; readonly wire: 'fixed64'; readonly bytes: Uint8Array }
  | { readonly number: number; readonly wire: 'fixed32'; readonly bytes: Uint8Array }
  | { readonly number: number; readonly wire: 'bytes'; readonly bytes: Uint8Array };

const maxVarintBytes = 10;
/** Up to 2^35: more than any body is long. */
const maxLengthBytes = 5;

/** The fields of a message in the order of the bytes. Throws `ProtobufError` on bytes that are no message. */
export function* wireFields(bytes: Uint8Array): Generator<WireField> {
  const reader = { bytes, offset: 0 };
  while (reader.offset < bytes.length) {
    const tag = readNumber(reader);
    const number = Math.floor(tag / 8);
    if (number === 0 || number > 0x1fffffff) throw new ProtobufError(`illegal tag ${number} at byte ${reader.offset}`);
    switch (tag % 8) {
      case 0:
        yield { number, wire: 'varint', value: readVarint(reader) };
        break;
      case 1:
        yield { number, wire: 'fixed64', bytes: take(reader, 8) };
        break;
      case 2:
        yield { number, wire: 'bytes', bytes: take(reader, readNumber(reader)) };
        break;
      case 5:
        yield { number, wire: 'fixed32', bytes: take(reader, 4) };
        break;
      default:
        throw new ProtobufError(`illegal wire type ${tag % 8} of field ${number}`);
    }
  }
}

interface Reader {
  readonly bytes: Uint8Array;
  offset: number;
}

/** Tags and lengths: without bigint arithmetic, for there are many of them. */
function readNumber(reader: Reader): number {
  let value = 0;
  for (let count = 0; count < maxLengthBytes; count += 1) {
    const byte = nextByte(reader);
    value += (byte & 0x7f) * 2 ** (7 * count);
    if (byte < 0x80) return value;
  }
  throw new ProtobufError('integer overflow');
}

function readVarint(reader: Reader): bigint {
  let value = 0n;
  for (let count = 0; count < maxVarintBytes; count += 1) {
    const byte = nextByte(reader);
    value |= BigInt(byte & 0x7f) << BigInt(7 * count);
    if (byte < 0x80) return BigInt.asUintN(64, value);
  }
  throw new ProtobufError('integer overflow');
}

function nextByte(reader: Reader): number {
  const byte = reader.bytes[reader.offset];
  if (byte === undefined) throw new ProtobufError('unexpected EOF');
  reader.offset += 1;
  return byte;
}

function take(reader: Reader, length: number): Uint8Array {
  const end = reader.offset + length;
  if (end > reader.bytes.length) throw new ProtobufError('unexpected EOF');
  const taken = reader.bytes.subarray(reader.offset, end);
  reader.offset = end;
  return taken;
}
