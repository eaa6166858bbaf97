import { prefixRange } from '../mvcc/key-order.js';
import type { KeyspaceState } from '../mvcc/keyspace-state.js';
import { ByteWriter } from './byte-codec.js';
import type { AppendableFile } from './file-system.js';
import { FRAME_HEADER_BYTES, sealFrame } from './frame.js';
import { draftName, pathIn, snapshotName } from './log-files.js';
import { asRecord, type LogRecord, writeRecord } from './record-codec.js';
import type { LogPlace } from './segmented-log.js';

/** About the size of a snapshot's frames: between two of them, reads and writes of the keyspace go on. */
const FRAME_BYTES = 512 * 1024;

/**
 * The records that bring a new state to where `state` is now: its keys at the compacted revision, then each change
 * since, so that old revisions can be read and watched after a restart as before it. Versions do not change: only
 * references are taken.
 */
export function captureSnapshot(state: KeyspaceState, nextSequence: number): readonly LogRecord[] {
  const { map, leases } = state;
  const { compactedRevision } = map;
  const records: LogRecord[] = [{ type: 'base', compactedRevision, lastLease: leases.lastLease, nextSequence }];
  for (const { lease, ttlSeconds } of leases.granted()) records.push({ type: 'lease-granted', lease, ttlSeconds });
  if (compactedRevision > 0) {
    const { keyValues } = map.range(prefixRange(''), { revision: compactedRevision });
    for (const keyValue of keyValues) records.push({ type: 'base-key', keyValue });
  }
  for (const events of map.changesAfter(compactedRevision)) {
    const [event] = events;
    if (event !== undefined) records.push(asRecord({ type: 'changes', revision: event.revision, events }));
  }
  records.push({ type: 'end' });
  return records;
}

export interface SnapshotOptions {
  readonly place: LogPlace;
  readonly number: number;
  /** Looked at between two frames. */
  readonly signal: AbortSignal;
}

/** Writes a snapshot that is there whole or not at all; resolves with its size when it is durable. */
export async function writeSnapshot(records: readonly LogRecord[], options: SnapshotOptions): Promise<number> {
  const { directory, fileSystem } = options.place;
  const draft = pathIn(directory, draftName(options.number));
  try {
    const file = await fileSystem.openForAppending(draft, { isSynchronous: false });
    let sizeBytes: number;
    try {
      sizeBytes = await writeRecords(file, records, options.signal);
      await file.sync();
    } finally {
      await file.close();
    }
    await fileSystem.rename(draft, pathIn(directory, snapshotName(options.number)));
    await fileSystem.syncDirectory(directory);
    return sizeBytes;
  } catch (error) {
    // The draft may be what fills the disk. When it cannot be removed now, the next start does.
    await fileSystem.remove(draft).catch(() => undefined);
    throw error;
  }
}

async function writeRecords(file: AppendableFile, records: readonly LogRecord[], signal: AbortSignal): Promise<number> {
  const writer = new ByteWriter(FRAME_BYTES * 2);
  let sizeBytes = 0;
  let sequence = 1;
  writer.reset(FRAME_HEADER_BYTES);
  for (const [index, record] of records.entries()) {
    writeRecord(writer, record);
    if (writer.length < FRAME_BYTES && index < records.length - 1) continue;
    signal.throwIfAborted();
    sealFrame(writer.bytes, sequence++);
    await file.append(writer.bytes);
    sizeBytes += writer.length;
    writer.reset(FRAME_HEADER_BYTES);
  }
  return sizeBytes;
}
