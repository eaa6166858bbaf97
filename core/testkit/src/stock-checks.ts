import assert from 'node:assert/strict';
import type { Client } from '@castellan/client';
import { namespaces, type ObjectKey } from '@castellan/machinery';
import type { Controller } from '@castellan/runtime';
import { realWorld } from '@castellan/world';
import { type Faults, faultyClient } from './faulty-client.js';
import { live } from './reconciler-life.js';

/** What every reconciler should survive is checked with this one description of it. */
export interface ReconcilerCase {
  /** A new one for each life of the process: what it holds in memory is lost in a crash. */
  controller(): Controller;
  /** Creates what there is at first, in a namespace that nobody else uses; gives the key to reconcile. */
  arrange(client: Client, namespace: string): Promise<ObjectKey>;
  /** What the rest of the cluster does between two reconciles, such as making pods ready. */
  progress?(client: Client, namespace: string): Promise<void>;
  /** Fails unless the wanted end is reached. */
  verify(client: Client, namespace: string): Promise<void>;
}

/** When a reconciler has settled, another one that knows nothing of it has nothing to write. */
export async function secondReconcileWritesNothing(client: Client, subject: ReconcilerCase): Promise<void> {
  await inNamespace(client, async (namespace) => {
    const key = await subject.arrange(client, namespace);
    const first = await liveOnce(client, subject, { namespace, key });
    assert.ok(first.writes.length > 0, 'the case gives the reconciler nothing to do');
    await subject.verify(client, namespace);
    const second = await liveOnce(client, subject, { namespace, key });
    assert.deepEqual(second.writes, [], 'what is as it should be was written again');
  });
}

/**
 * Stopped before any one of its writes and started anew, a reconciler reaches the same end. Gives the number of writes it
 * was stopped at.
 */
export async function convergesFromCrashAtEveryWrite(client: Client, subject: ReconcilerCase): Promise<number> {
  for (let crashAfterWrites = 0; ; crashAfterWrites++) {
    const hasCrashed = await inNamespace(client, async (namespace) => {
      const key = await subject.arrange(client, namespace);
      const first = await liveOnce(client, subject, { namespace, key, faults: { crashAfterWrites } });
      if (first.end === 'crashed') await liveOnce(client, subject, { namespace, key });
      await verifyAfter(`a crash after ${crashAfterWrites} writes`, () => subject.verify(client, namespace));
      return first.end === 'crashed';
    });
    if (!hasCrashed) {
      assert.ok(crashAfterWrites > 0, 'the case gives the reconciler nothing to do');
      return crashAfterWrites;
    }
  }
}

/** A cache that lags, reads that are old, and writes that are refused as conflicts delay a reconciler and mislead it never. */
export async function convergesFromStaleReadsAndConflicts(client: Client, subject: ReconcilerCase): Promise<void> {
  const trials: readonly { readonly what: string; readonly faults?: Faults; readonly repeatsSnapshots?: boolean }[] = [
    { what: 'a cache that lags by one reconcile', repeatsSnapshots: true },
    { what: 'stale reads', faults: { staleReads: 3 } },
    { what: 'conflicts', faults: { conflicts: 3 } },
  ];
  for (const { what, ...trial } of trials) {
    await inNamespace(client, async (namespace) => {
      const key = await subject.arrange(client, namespace);
      await liveOnce(client, subject, { namespace, key, ...trial });
      await verifyAfter(what, () => subject.verify(client, namespace));
    });
  }
}

interface Trial {
  readonly namespace: string;
  readonly key: ObjectKey;
  readonly faults?: Faults;
  readonly repeatsSnapshots?: boolean;
}

async function liveOnce(client: Client, subject: ReconcilerCase, { namespace, key, faults, ...how }: Trial) {
  const faulty = faultyClient(client, faults);
  const end = await live({
    controller: subject.controller(),
    key,
    client: faulty,
    reader: client,
    progress: async () => await subject.progress?.(client, namespace),
    ...how,
  });
  return { end, writes: faulty.writes };
}

async function verifyAfter(what: string, verify: () => Promise<void>): Promise<void> {
  try {
    await verify();
  } catch (error) {
    throw new Error(`after ${what}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

async function inNamespace<T>(client: Client, work: (namespace: string) => Promise<T>): Promise<T> {
  const name = `check-${realWorld().random.string(8)}`;
  await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  try {
    return await work(name);
  } finally {
    await client.delete(namespaces, { name });
  }
}
