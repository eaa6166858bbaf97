import { realWorld, waitFor } from '@castellan/world';
import type { KeyEvent, KeyRange, Keyspace, Revision, Watch } from '../src/index.js';

/** A watch that keeps what it was given. */
export interface CollectedWatch {
  readonly watch: Watch;
  /** One element per call of `onEvents`. */
  readonly batches: (readonly KeyEvent[])[];
  readonly progress: Revision[];
  /** One element per call of `onEnd`. */
  readonly ends: (Error | undefined)[];
  events(): readonly KeyEvent[];
  /** Waits until so many events came; fails after 30 s. */
  untilEvents(count: number): Promise<readonly KeyEvent[]>;
}

export async function collectWatch(keyspace: Keyspace, range: KeyRange, after: Revision): Promise<CollectedWatch> {
  const batches: (readonly KeyEvent[])[] = [];
  const progress: Revision[] = [];
  const ends: (Error | undefined)[] = [];
  const watch = await keyspace.watch(range, after, {
    onEvents: (events) => batches.push(events),
    onProgress: (revision) => progress.push(revision),
    onEnd: (error) => ends.push(error),
  });
  const events = () => batches.flat();
  const untilEvents = async (count: number) => {
    await waitFor(realWorld(), () => events().length >= count, {
      what: () => `${count} events of which ${events().length} came`,
      deadlineMs: 30_000,
      everyMs: 2,
    });
    return events();
  };
  return { watch, batches, progress, ends, events, untilEvents };
}
