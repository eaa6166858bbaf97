import type { KeyEvent } from '../keyspace.js';
import type { WriteBatch } from './write-batch.js';

/** Takes writes in the order of their calls: decides them, makes them durable, applies them, then answers. */
export interface Committer {
  /** `onApplied` gets the changes of each group that was applied, before the group's writers get their answers. */
  start(onApplied: (events: readonly KeyEvent[]) => void): void;
  /** Resolves with what `decide` returned once that is durable; rejects with what it threw. */
  submit<Result>(decide: (batch: WriteBatch) => Result): Promise<Result>;
  readonly sizeBytes: number;
  /** Why nothing can be submitted any more. */
  readonly failure: Error | undefined;
  /** Waits for what was submitted. */
  close(): Promise<void>;
}
