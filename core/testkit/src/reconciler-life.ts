import type { Client } from '@castellan/client';
import type { ObjectKey } from '@castellan/machinery';
import type { Controller, Reader } from '@castellan/runtime';
import { realWorld, simulatedEpochMs, simulatedWorld } from '@castellan/world';
import { CrashError, type FaultyClient } from './faulty-client.js';
import { readSnapshot } from './snapshot.js';

export interface Life {
  readonly controller: Controller;
  readonly key: ObjectKey;
  /** Of the reconciler; may fail. */
  readonly client: FaultyClient;
  /** For the snapshots it reads from; never fails. */
  readonly reader: Client;
  /** The rest of the cluster, between two reconciles. */
  progress(): Promise<void>;
  /** Reconciles twice with each snapshot, as when the cache lags behind. */
  readonly repeatsSnapshots?: boolean;
}

export type End = 'settled' | 'crashed';

const mostRounds = 100;
/** A reconcile that asks to be called again in time is settled when it has written nothing this often. */
const quietRoundsToSettle = 3;

/**
 * One life of a reconciler's process: reconciles, and lets the time it asks for pass, until it has nothing more to write
 * or crashes. Fails with the last error when it does neither in 100 rounds.
 */
export async function live(life: Life): Promise<End> {
  const world = simulatedWorld(1);
  world.jumpWallClock(realWorld().clock.now() - simulatedEpochMs);
  let quietRounds = 0;
  let lastError: unknown;
  for (let round = 0; round < mostRounds; round++) {
    await life.progress();
    const written = life.client.writes.length;
    const snapshot = await readSnapshot(life.reader, life.controller);
    lastError = undefined;
    let waitMs: number | undefined;
    for (let turn = 0; turn < (life.repeatsSnapshots ? 2 : 1); turn++) {
      try {
        waitMs = (await life.controller.reconcile(life.key, contextOf(life, snapshot, world)))?.requeueAfterMs;
      } catch (error) {
        if (error instanceof CrashError || life.client.isCrashed) return 'crashed';
        lastError = error;
      }
    }
    const isQuiet = lastError === undefined && life.client.writes.length === written;
    quietRounds = isQuiet ? quietRounds + 1 : 0;
    if (isQuiet && (waitMs === undefined || quietRounds === quietRoundsToSettle)) return 'settled';
    if (waitMs !== undefined) await world.advance(waitMs);
  }
  const recent = life.client.writes.slice(-6).join(', ');
  throw new Error(`${life.controller.name} did not settle in ${mostRounds} reconciles; its last writes: ${recent}`, {
    cause: lastError,
  });
}

function contextOf({ client }: Life, cache: Reader, world: ReturnType<typeof simulatedWorld>) {
  const quiet = () => undefined;
  return {
    client,
    cache,
    world,
    signal: new AbortController().signal,
    log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
    events: { record: quiet },
  };
}
