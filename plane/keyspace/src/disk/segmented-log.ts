import type { Entry } from '../mvcc/entry.js';
import { ByteWriter } from './byte-codec.js';
import type { AppendableFile, KeyspaceFileSystem } from './file-system.js';
import { FRAME_HEADER_BYTES, sealFrame } from './frame.js';
import type { LoadedLog } from './load.js';
import { pathIn, segmentName, snapshotName, sortFiles } from './log-files.js';
import { asRecord, writeRecord } from './record-codec.js';

/** A buffer that one large group needed is not kept for the small ones after it. */
const KEPT_BUFFER_BYTES = 256 * 1024;

export interface LogPlace {
  readonly directory: string;
  readonly fileSystem: KeyspaceFileSystem;
}

/**
 * The segments of a directory, the last of which grows. Calls must not overlap. After a failed call the log must not be
 * used any more: what the disk holds of the group is not known.
 */
export class SegmentedLog {
  readonly #place: LogPlace;
  readonly #files: Map<string, number>;
  #segment: number;
  #nextSequence: number;
  #file: AppendableFile;
  #writer = new ByteWriter(KEPT_BUFFER_BYTES);

  private constructor(place: LogPlace, loaded: LoadedLog, file: AppendableFile) {
    this.#place = place;
    this.#files = loaded.files;
    this.#segment = loaded.segment;
    this.#nextSequence = loaded.nextSequence;
    this.#file = file;
  }

  static async open(place: LogPlace, loaded: LoadedLog): Promise<SegmentedLog> {
    return new SegmentedLog(place, loaded, await openSegment(place, loaded.segment));
  }

  /** Of all files. */
  get sizeBytes(): number {
    let sum = 0;
    for (const size of this.#files.values()) sum += size;
    return sum;
  }

  get segment(): number {
    return this.#segment;
  }

  get segmentBytes(): number {
    return this.#files.get(segmentName(this.#segment)) ?? 0;
  }

  get nextSequence(): number {
    return this.#nextSequence;
  }

  /** Resolves when the entries are durable. After a crash either all of them are there or none. */
  async append(entries: readonly Entry[]): Promise<void> {
    const writer = this.#writer;
    writer.reset(FRAME_HEADER_BYTES);
    for (const entry of entries) writeRecord(writer, asRecord(entry));
    sealFrame(writer.bytes, this.#nextSequence);
    await this.#file.append(writer.bytes);
    this.#nextSequence++;
    this.#files.set(segmentName(this.#segment), this.segmentBytes + writer.length);
    if (writer.length > KEPT_BUFFER_BYTES) this.#writer = new ByteWriter(KEPT_BUFFER_BYTES);
  }

  /** Begins the next segment. */
  async roll(): Promise<void> {
    const next = await openSegment(this.#place, this.#segment + 1);
    const full = this.#file;
    this.#file = next;
    this.#segment++;
    this.#files.set(segmentName(this.#segment), 0);
    await this.#place.fileSystem.syncDirectory(this.#place.directory);
    await full.close();
  }

  /** Removes what the durable snapshot `number` stands for. */
  async replaceBy(number: number, snapshotBytes: number): Promise<void> {
    this.#files.set(snapshotName(number), snapshotBytes);
    for (const name of sortFiles([...this.#files.keys()]).obsolete) {
      await this.#place.fileSystem.remove(pathIn(this.#place.directory, name));
      this.#files.delete(name);
    }
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}

function openSegment({ directory, fileSystem }: LogPlace, segment: number): Promise<AppendableFile> {
  return fileSystem.openForAppending(pathIn(directory, segmentName(segment)), { isSynchronous: true });
}
