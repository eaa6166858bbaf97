import type { KeyValue, LeaseId, Revision } from '../keyspace.js';
import type { Entry } from '../mvcc/entry.js';
import type { Change } from '../mvcc/write-batch.js';
import { ByteReader, type ByteWriter } from './byte-codec.js';

/** What a log or snapshot holds. The first three are only in snapshots. */
export type LogRecord =
  /** Begins a snapshot: it holds the state before the frame `nextSequence`. */
  | {
      readonly type: 'base';
      readonly compactedRevision: Revision;
      readonly lastLease: number;
      readonly nextSequence: number;
    }
  /** A key as it was at the compacted revision. */
  | { readonly type: 'base-key'; readonly keyValue: KeyValue }
  /** Ends a snapshot. */
  | { readonly type: 'end' }
  /** What the keys held before is not logged: it follows from the records before. */
  | { readonly type: 'changes'; readonly revision: Revision; readonly changes: readonly Change[] }
  | Exclude<Entry, { readonly type: 'changes' }>;

const TAGS = {
  base: 1,
  'base-key': 2,
  end: 3,
  changes: 4,
  'lease-granted': 5,
  'lease-ended': 6,
  compacted: 7,
} as const satisfies Record<LogRecord['type'], number>;

export function asRecord(entry: Entry): LogRecord {
  if (entry.type !== 'changes') return entry;
  const changes = entry.events.map(({ key, keyValue }): Change => {
    if (keyValue === undefined) return { key };
    return { key, value: keyValue.value, ...(keyValue.lease !== undefined && { lease: keyValue.lease }) };
  });
  return { type: 'changes', revision: entry.revision, changes };
}

export function writeRecord(writer: ByteWriter, record: LogRecord): void {
  writer.byte(TAGS[record.type]);
  switch (record.type) {
    case 'base':
      writer.number(record.compactedRevision);
      writer.number(record.lastLease);
      writer.number(record.nextSequence);
      return;
    case 'base-key':
      writeChange(writer, record.keyValue);
      writer.number(record.keyValue.createRevision);
      writer.number(record.keyValue.modRevision);
      writer.number(record.keyValue.version);
      return;
    case 'end':
      return;
    case 'changes':
      writer.number(record.revision);
      writer.number(record.changes.length);
      for (const change of record.changes) writeChange(writer, change);
      return;
    case 'lease-granted':
      writer.text(record.lease);
      writer.double(record.ttlSeconds);
      return;
    case 'lease-ended':
      writer.text(record.lease);
      return;
    case 'compacted':
      writer.number(record.revision);
      return;
  }
}

/** Values are parts of `payload`. Throws a RangeError for what this version of the program cannot read. */
export function* readRecords(payload: Buffer): Iterable<LogRecord> {
  const reader = new ByteReader(payload);
  while (!reader.isAtEnd) yield readRecord(reader);
}

function readRecord(reader: ByteReader): LogRecord {
  const tag = reader.byte();
  switch (tag) {
    case TAGS.base:
      return {
        type: 'base',
        compactedRevision: reader.number(),
        lastLease: reader.number(),
        nextSequence: reader.number(),
      };
    case TAGS['base-key']:
      return { type: 'base-key', keyValue: readKeyValue(reader) };
    case TAGS.end:
      return { type: 'end' };
    case TAGS.changes: {
      const revision = reader.number();
      const changes = Array.from({ length: reader.number() }, () => readChange(reader));
      return { type: 'changes', revision, changes };
    }
    case TAGS['lease-granted']:
      return { type: 'lease-granted', lease: reader.text(), ttlSeconds: reader.double() };
    case TAGS['lease-ended']:
      return { type: 'lease-ended', lease: reader.text() };
    case TAGS.compacted:
      return { type: 'compacted', revision: reader.number() };
    default:
      throw new RangeError(`an entry of kind ${tag}, which this version does not know`);
  }
}

/** What follows the key: nothing (it was deleted), a value, or a value and a lease. */
const DELETED = 0;
const VALUE = 1;
const VALUE_AND_LEASE = 2;

function writeChange(writer: ByteWriter, { key, value, lease }: Change): void {
  writer.text(key);
  if (value === undefined) {
    writer.byte(DELETED);
    return;
  }
  writer.byte(lease === undefined ? VALUE : VALUE_AND_LEASE);
  writer.data(value);
  if (lease !== undefined) writer.text(lease);
}

function readChange(reader: ByteReader): Change {
  const key = reader.text();
  const kind = reader.byte();
  if (kind === DELETED) return { key };
  const value = reader.data();
  const lease: LeaseId | undefined = kind === VALUE_AND_LEASE ? reader.text() : undefined;
  return lease === undefined ? { key, value } : { key, value, lease };
}

function readKeyValue(reader: ByteReader): KeyValue {
  const { key, value = Buffer.alloc(0), lease } = readChange(reader);
  const createRevision = reader.number();
  const modRevision = reader.number();
  const version = reader.number();
  const keyValue = { key, value, createRevision, modRevision, version };
  return lease === undefined ? keyValue : { ...keyValue, lease };
}
