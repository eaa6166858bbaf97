import { DamagedLogError } from '../errors.js';
import type { ReadableFile } from './file-system.js';
import { checkFrame, holdsLaterFrame } from './frame.js';
import { type LogRecord, readRecords } from './record-codec.js';

const CHUNK_BYTES = 4 * 1024 * 1024;

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
  let sequence = source.firstSequence;
  let position = 0;
  let wanted = CHUNK_BYTES;
  while (position < file.sizeBytes) {
    const chunk = await file.read(position, wanted);
    wanted = CHUNK_BYTES;
    let offset = 0;
    while (offset < chunk.length) {
      const check = checkFrame(chunk, offset);
      const at = position + offset;
      if (check.state === 'short' && at + check.lengthBytes <= file.sizeBytes) {
        wanted = Math.max(CHUNK_BYTES, check.lengthBytes);
        break;
      }
      if (check.state !== 'whole') {
        const broken = check.state === 'short' ? 'a frame is cut short' : check.reason;
        return { nextSequence: sequence, endBytes: at, broken };
      }
      if (check.sequence !== sequence) {
        throw new DamagedLogError(path, at, `frame ${check.sequence} stands where frame ${sequence} belongs`);
      }
      applyPayload(path, at, check.payload, onRecord);
      sequence++;
      offset += check.lengthBytes;
    }
    position += offset;
  }
  return { nextSequence: sequence, endBytes: position };
}

/**
 * Whether the end of the last segment is what a crash leaves: the group that was being written, torn. When a later group
 * is whole, the broken one was durable once and something else has damaged it.
 */
export async function isTornEnd(file: ReadableFile, { endBytes, nextSequence }: FramesRead): Promise<boolean> {
  const rest = await file.read(endBytes, file.sizeBytes - endBytes);
  return !holdsLaterFrame(rest, nextSequence);
}

function applyPayload(path: string, offset: number, payload: Buffer, onRecord: (record: LogRecord) => void): void {
  try {
    for (const record of readRecords(payload)) onRecord(record);
  } catch (error) {
    throw new DamagedLogError(path, offset, error instanceof Error ? error.message : String(error));
  }
}
