import type { World } from '@castellan/world';
import type { Keyspace, Revision } from './keyspace.js';

export interface CompactionOptions {
  readonly keyspace: Keyspace;
  readonly world: World;
  /** 5 minutes in kube-apiserver. History is kept for one to two intervals. */
  readonly intervalMs: number;
  /** Told when a compaction failed; the next interval tries again. */
  readonly onNotice: (message: string) => void;
  readonly signal: AbortSignal;
}

/** The key of kube-apiserver, so that both can share an etcd. Its value is the revision when it was written, for people. */
const recordKey = 'compact_rev_key';

/** What this process knows of the record. */
interface Record {
  readonly modRevision: Revision;
  /** The keyspace's revision when this was learned. */
  readonly seenAt: Revision;
}

/**
 * Compacts the keyspace in every interval to its revision of an interval ago, until the signal is aborted. Several
 * processes over one keyspace do so once: who writes the record before the others compacts, and the others wait for
 * another interval. Source: compact.go of kube-apiserver's etcd3 storage.
 */
export async function compactPeriodically(options: CompactionOptions): Promise<void> {
  const { world, intervalMs, onNotice, signal } = options;
  let record: Record | undefined;
  while (!signal.aborted) {
    try {
      record = await compactOnce(options.keyspace, record);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      onNotice(`old history was not forgotten, in ${intervalMs / 1000} s it is tried again: ${reason}`);
    }
    await world.clock.sleep(intervalMs, signal).catch(() => undefined);
  }
}

async function compactOnce(keyspace: Keyspace, known: Record | undefined): Promise<Record> {
  const { revision, keyValue } = await keyspace.get(recordKey);
  const modRevision = keyValue?.modRevision ?? 0;
  // The first look, or another process has compacted since the last one.
  if (known === undefined || known.modRevision !== modRevision) return { modRevision, seenAt: revision };
  const value = Buffer.from(String(revision));
  const written = await keyspace.put(recordKey, value, { ifRevision: modRevision });
  if (!written.isWritten) return { modRevision: written.present?.modRevision ?? 0, seenAt: written.revision };
  await keyspace.compact(known.seenAt);
  return { modRevision: written.revision, seenAt: written.revision };
}
