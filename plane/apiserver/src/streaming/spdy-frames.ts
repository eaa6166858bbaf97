/** Frames of SPDY protocol draft 3.1, section 2.6, as far as Kubernetes' clients send them. */
export type SpdyFrame =
  | { readonly type: 'data'; readonly streamId: number; readonly isLast: boolean; readonly data: Buffer }
  | { readonly type: 'open'; readonly streamId: number; readonly isLast: boolean; readonly headerBlock: Buffer }
  | { readonly type: 'headers'; readonly headerBlock: Buffer }
  | { readonly type: 'reset'; readonly streamId: number }
  | { readonly type: 'ping'; readonly id: number }
  /** Settings, window updates and goodbyes: nothing of ours depends on them. */
  | { readonly type: 'other' };

/** The peer sends what is no SPDY/3.1; its connection is to be ended. */
export class SpdyError extends Error {
  override readonly name = 'SpdyError';
}

const headBytes = 8;
/** Frames of Kubernetes' clients are of 64 KB at most. */
const frameLimitBytes = 1024 * 1024;
const version = 3;
const types = { synStream: 1, synReply: 2, reset: 3, ping: 6, goAway: 7, headers: 8 } as const;
const flagLast = 1;
const streamIdMask = 0x7fffffff;
/** Where the headers begin: after stream, associated stream, priority and slot. */
const synStreamFields = 10;

export class SpdyFrameReader {
  #pending: Buffer = Buffer.alloc(0);

  /** The frames that are whole now. Fails with `SpdyError`. */
  *push(chunk: Buffer): Generator<SpdyFrame> {
    this.#pending = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk]);
    while (this.#pending.length >= headBytes) {
      const head = this.#pending.readUInt32BE(0);
      const length = this.#pending.readUIntBE(5, 3);
      if (length > frameLimitBytes) throw new SpdyError(`a frame of ${length} bytes; the limit is ${frameLimitBytes}`);
      if (this.#pending.length < headBytes + length) return;
      const isLast = (this.#pending.readUInt8(4) & flagLast) !== 0;
      const body = this.#pending.subarray(headBytes, headBytes + length);
      this.#pending = this.#pending.subarray(headBytes + length);
      const isControl = head > streamIdMask;
      yield isControl ? controlFrame(head, isLast, body) : { type: 'data', streamId: head, isLast, data: body };
    }
  }
}

function controlFrame(head: number, isLast: boolean, body: Buffer): SpdyFrame {
  if (((head >>> 16) & 0x7fff) !== version) throw new SpdyError('a control frame is not of SPDY version 3');
  const type = head & 0xffff;
  switch (type) {
    case types.synStream:
      return {
        type: 'open',
        streamId: fieldOf(body, synStreamFields) & streamIdMask,
        isLast,
        headerBlock: body.subarray(synStreamFields),
      };
    case types.synReply:
    case types.headers:
      fieldOf(body, 4);
      return { type: 'headers', headerBlock: body.subarray(4) };
    case types.reset:
      return { type: 'reset', streamId: fieldOf(body, 8) & streamIdMask };
    case types.ping:
      return { type: 'ping', id: fieldOf(body, 4) };
    default:
      return { type: 'other' };
  }
}

/** The first field of a body that has at least so many bytes. */
function fieldOf(body: Buffer, minBytes: number): number {
  if (body.length < minBytes) throw new SpdyError(`a control frame of ${body.length} bytes is too short`);
  return body.readUInt32BE(0);
}

export function dataHead(streamId: number, length: number, isLast: boolean): Buffer {
  const head = Buffer.alloc(headBytes);
  head.writeUInt32BE(streamId, 0);
  head.writeUInt8(isLast ? flagLast : 0, 4);
  head.writeUIntBE(length, 5, 3);
  return head;
}

/** The answer to a stream's opening: no headers. `isFirst` of the connection, for the compression goes on from there. */
export function replyFrame(streamId: number, isFirst: boolean): Buffer {
  const stream = Buffer.alloc(4);
  stream.writeUInt32BE(streamId);
  // "No headers" is a zero of four bytes: a stored block of deflate (RFC 1951, 3.2.4) and an empty one, which flushes.
  const stored = [0x00, 0x04, 0x00, 0xfb, 0xff, 0, 0, 0, 0, 0x00, 0x00, 0x00, 0xff, 0xff];
  const zlibHead = isFirst ? [0x78, 0x01] : [];
  return control(types.synReply, Buffer.concat([stream, Buffer.from([...zlibHead, ...stored])]));
}

export function resetFrame(streamId: number, status: number): Buffer {
  return control(types.reset, fields(streamId, status));
}

export function pingFrame(id: number): Buffer {
  return control(types.ping, fields(id));
}

export function goAwayFrame(lastStreamId: number): Buffer {
  return control(types.goAway, fields(lastStreamId, 0));
}

function control(type: number, body: Buffer): Buffer {
  const head = Buffer.alloc(headBytes);
  head.writeUInt16BE(0x8000 | version, 0);
  head.writeUInt16BE(type, 2);
  head.writeUIntBE(body.length, 5, 3);
  return Buffer.concat([head, body]);
}

function fields(...values: readonly number[]): Buffer {
  const body = Buffer.alloc(4 * values.length);
  values.forEach((value, index) => void body.writeUInt32BE(value, 4 * index));
  return body;
}
