import { crc32 } from 'node:zlib';

/**
 * A frame holds the entries of one group of writes: they were written at once, and the next frame was begun only when
 * this one was durable. So a crash can tear only the last frame of a log.
 *
 *     offset  0: "CKL1"
 *             4: payload length (4 bytes, little-endian)
 *             8: sequence number (6 bytes): one more than that of the frame before
 *            14: zero (2 bytes)
 *            16: CRC-32 (as in zlib) of the bytes 0 to 15 and the payload
 *            20: payload
 */
export const FRAME_HEADER_BYTES = 20;
const MAGIC = Buffer.from('CKL1');

/** Fills in the header, for which `frame` has room before its payload. */
export function sealFrame(frame: Buffer, sequence: number): void {
  MAGIC.copy(frame);
  frame.writeUInt32LE(frame.length - FRAME_HEADER_BYTES, 4);
  frame.writeUIntLE(sequence, 8, 6);
  frame.writeUInt16LE(0, 14);
  frame.writeUInt32LE(checksumOf(frame), 16);
}

export type FrameCheck =
  | { readonly state: 'whole'; readonly sequence: number; readonly lengthBytes: number; readonly payload: Buffer }
  /** More bytes are needed to tell. */
  | { readonly state: 'short' }
  | { readonly state: 'broken'; readonly reason: string };

/** What begins at `offset` of `bytes`. */
export function checkFrame(bytes: Buffer, offset: number): FrameCheck {
  const available = bytes.length - offset;
  if (available < FRAME_HEADER_BYTES) return { state: 'short' };
  if (MAGIC.compare(bytes, offset, offset + MAGIC.length) !== 0)
    return { state: 'broken', reason: 'no frame begins here' };
  const lengthBytes = FRAME_HEADER_BYTES + bytes.readUInt32LE(offset + 4);
  if (available < lengthBytes) return { state: 'short' };
  const frame = bytes.subarray(offset, offset + lengthBytes);
  if (frame.readUInt32LE(16) !== checksumOf(frame)) return { state: 'broken', reason: 'the checksum does not match' };
  return {
    state: 'whole',
    sequence: frame.readUIntLE(8, 6),
    lengthBytes,
    payload: frame.subarray(FRAME_HEADER_BYTES),
  };
}

/** Whether a whole frame later than `sequence` begins anywhere in `bytes`. */
export function holdsLaterFrame(bytes: Buffer, sequence: number): boolean {
  for (let offset = bytes.indexOf(MAGIC); offset >= 0; offset = bytes.indexOf(MAGIC, offset + 1)) {
    const check = checkFrame(bytes, offset);
    if (check.state === 'whole' && check.sequence > sequence) return true;
  }
  return false;
}

function checksumOf(frame: Buffer): number {
  return crc32(frame.subarray(FRAME_HEADER_BYTES), crc32(frame.subarray(0, 16)));
}
