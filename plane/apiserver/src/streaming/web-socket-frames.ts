/** How a WebSocket connection may end before its time (RFC 6455, section 7.4.1). */
export const closeCodes = { normal: 1000, protocolError: 1002, invalidText: 1007, tooBig: 1009 } as const;

export const opcodes = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

export interface Frame {
  readonly isFinal: boolean;
  readonly opcode: number;
  readonly payload: Buffer;
}

/** The peer broke the rules of RFC 6455; the connection is to be closed with `code`. */
export class WebSocketError extends Error {
  override readonly name = 'WebSocketError';
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

const controlLimit = 125;
const maskBytes = 4;
const knownOpcodes: readonly number[] = Object.values(opcodes);

/** Takes a client's bytes as they come and gives its frames, unmasked. Strict: what a client must not send is an error. */
export class FrameReader {
  readonly #limitBytes: number;
  #pending: Buffer = Buffer.alloc(0);

  /** @param limitBytes of one frame's payload. */
  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  /** The frames that are whole now. Fails with `WebSocketError` at the first that is not allowed. */
  *push(chunk: Buffer): Generator<Frame> {
    this.#pending = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk]);
    for (let frame = this.#next(); frame !== undefined; frame = this.#next()) yield frame;
  }

  #next(): Frame | undefined {
    const bytes = this.#pending;
    if (bytes.length < 2) return undefined;
    const first = bytes.readUInt8(0);
    const second = bytes.readUInt8(1);
    const isFinal = (first & 0x80) !== 0;
    const opcode = first & 0x0f;
    if ((first & 0x70) !== 0) throw protocolError('reserved bits are set and no extension was agreed on');
    if (!knownOpcodes.includes(opcode)) throw protocolError(`opcode ${opcode} is not known`);
    if ((second & 0x80) === 0) throw protocolError('a frame of a client is not masked');
    const shortLength = second & 0x7f;
    if (opcode >= opcodes.close && (!isFinal || shortLength > controlLimit)) {
      throw protocolError('a control frame is fragmented or longer than 125 bytes');
    }
    const lengthBytes = shortLength === 127 ? 8 : shortLength === 126 ? 2 : 0;
    const start = 2 + lengthBytes + maskBytes;
    if (bytes.length < 2 + lengthBytes) return undefined;
    const length = readLength(bytes, shortLength);
    if (length > this.#limitBytes) {
      throw new WebSocketError(closeCodes.tooBig, `a frame of ${length} bytes; the limit is ${this.#limitBytes}`);
    }
    if (bytes.length < start + length) return undefined;
    const mask = bytes.subarray(start - maskBytes, start);
    const payload = Buffer.allocUnsafe(length);
    for (let index = 0; index < length; index += 1) {
      payload[index] = (bytes[start + index] ?? 0) ^ (mask[index & 3] ?? 0);
    }
    this.#pending = bytes.subarray(start + length);
    return { isFinal, opcode, payload };
  }
}

/** The head of an unfragmented frame of a server, which is never masked. */
export function frameHead(opcode: number, length: number): Buffer {
  const first = 0x80 | opcode;
  if (length < 126) return Buffer.from([first, length]);
  if (length < 0x10000) {
    const head = Buffer.from([first, 126, 0, 0]);
    head.writeUInt16BE(length, 2);
    return head;
  }
  const head = Buffer.from([first, 127, 0, 0, 0, 0, 0, 0, 0, 0]);
  head.writeBigUInt64BE(BigInt(length), 2);
  return head;
}

export function protocolError(message: string): WebSocketError {
  return new WebSocketError(closeCodes.protocolError, message);
}

function readLength(bytes: Buffer, shortLength: number): number {
  if (shortLength < 126) return shortLength;
  const length = shortLength === 126 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
  if (length < (shortLength === 126 ? 126 : 0x10000))
    throw protocolError('a length is not written in its shortest form');
  return length;
}
