import { DamagedLogError } from '../errors.js';
import { ChunkReader } from './chunk-reader.js';
import type { ReadableFile } from './file-system.js';
import { checkFrame, holdsLaterFrame } from './frame.js';
import { type LogRecord, readRecords } from './record-codec.js';

export interface FramesRead {
  readonly nextSequence: number;
  /** Where the last whole frame ends. */
  readonly endBytes: number;
  /** Why the bytes from there on are no frame; absent when the file ends there. */
  readonly broken?: string;
}

export interface FrameSource {
  readonly path: string;
  readonly file: ReadableFile;
  readonly firstSequence: number;
}

/** Gives every record of a file's whole frames to `onRecord`, and says where and why it stopped. */
export async function readFrames(source: FrameSource, onRecord: (record: LogRecord) => void): Promise<FramesRead> {
  const { path, file } = source;
  const chunks = new ChunkReader(file);
  let sequence = source.firstSequence;
  /** Where in the file the first byte is that is not yet taken. */
  let position = 0;
  try {
    let rest: Buffer = Buffer.alloc(0);
    for (let bytes = await chunks.next(rest); bytes !== undefined; bytes = await chunks.next(rest)) {
      let offset = 0;
      while (offset < bytes.length) {
        const check = checkFrame(bytes, offset);
        if (check.state === 'short') break;
        if (check.state === 'broken') return { nextSequence: sequence, endBytes: position, broken: check.reason };
        if (check.sequence !== sequence) {
          throw new DamagedLogError(path, position, `frame ${check.sequence} stands where frame ${sequence} belongs`);
        }
        applyPayload(path, position, check.payload, onRecord);
        sequence++;
        offset += check.lengthBytes;
        position += check.lengthBytes;
      }
      rest = bytes.subarray(offset);
    }
    const end = { nextSequence: sequence, endBytes: position };
    return rest.length === 0 ? end : { ...end, broken: 'a frame is cut short' };
  } finally {
    await chunks.close();
  }
}

/**
 * Whether the end of the last segment is what a crash leaves: the group that was being written, torn. When a later group
 * is whole, the broken one was durable once and something else has damaged it.
 */
export async function isTornEnd(file: ReadableFile, { endBytes, nextSequence }: FramesRead): Promise<boolean> {
  const rest = Buffer.alloc(file.sizeBytes - endBytes);
  const length = await file.read(endBytes, rest);
  return !holdsLaterFrame(rest.subarray(0, length), nextSequence);
}

function applyPayload(path: string, offset: number, payload: Buffer, onRecord: (record: LogRecord) => void): void {
  try {
    for (const record of readRecords(payload)) onRecord(record);
  } catch (error) {
    throw new DamagedLogError(path, offset, error instanceof Error ? error.message : String(error));
  }
}
