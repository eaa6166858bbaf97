import { KeyspaceFailedError } from '../errors.js';
import type { KeyEvent } from '../keyspace.js';
import type { Committer } from '../mvcc/committer.js';
import type { KeyspaceState } from '../mvcc/keyspace-state.js';
import { WriteBatch } from '../mvcc/write-batch.js';
import type { Rewriter } from './rewriter.js';
import type { LogPlace, SegmentedLog } from './segmented-log.js';

/** A group is ended behind this many bytes of values, so that one frame stays small against memory. */
const GROUP_VALUE_BYTES = 8 * 1024 * 1024;

interface Submission {
  /** Decides; then answers when called. A refusal of the decision itself is answered at once. */
  decide(batch: WriteBatch): (() => void) | undefined;
  fail(error: Error): void;
}

/**
 * Makes all writes that arrive during one turn of the event loop, or while the group before is on its way to the disk,
 * durable by one write. Nothing is applied before it is durable, and only here: so a decision made on the state stays
 * right while its group is written.
 */
export class GroupCommitter implements Committer {
  readonly #state: KeyspaceState;
  readonly #place: LogPlace;
  readonly #log: SegmentedLog;
  readonly #rewriter: Rewriter;
  #onApplied: (events: readonly KeyEvent[]) => void = () => undefined;
  #pending: Submission[] = [];
  #running: Promise<void> | undefined;
  #failure: KeyspaceFailedError | undefined;

  constructor(state: KeyspaceState, place: LogPlace, log: SegmentedLog, rewriter: Rewriter) {
    this.#state = state;
    this.#place = place;
    this.#log = log;
    this.#rewriter = rewriter;
  }

  get sizeBytes(): number {
    return this.#log.sizeBytes;
  }

  get failure(): KeyspaceFailedError | undefined {
    return this.#failure;
  }

  start(onApplied: (events: readonly KeyEvent[]) => void): void {
    this.#onApplied = onApplied;
  }

  submit<Result>(decide: (batch: WriteBatch) => Result): Promise<Result> {
    return new Promise((resolve, reject) => {
      if (this.#failure !== undefined) {
        reject(this.#failure);
        return;
      }
      this.#pending.push({
        decide(batch) {
          try {
            const result = decide(batch);
            return () => resolve(result);
          } catch (error) {
            reject(error);
            return undefined;
          }
        },
        fail: reject,
      });
      this.#running ??= this.#run();
    });
  }

  async close(): Promise<void> {
    await this.#running;
    await this.#rewriter.close();
    await this.#log.close();
  }

  async #run(): Promise<void> {
    while (this.#pending.length > 0) {
      // One turn, for the writes of this one and for those that follow from the answers to the group before.
      await new Promise((resolve) => setImmediate(resolve));
      await this.#commitGroup();
    }
    this.#running = undefined;
  }

  async #commitGroup(): Promise<void> {
    const batch = new WriteBatch(this.#state);
    const answers: (() => void)[] = [];
    let decided = 0;
    for (const submission of this.#pending) {
      if (batch.valueBytes > GROUP_VALUE_BYTES) break;
      const answer = submission.decide(batch);
      if (answer !== undefined) answers.push(answer);
      decided++;
    }
    const group = this.#pending.slice(0, decided);
    this.#pending = this.#pending.slice(decided);
    try {
      if (batch.entries.length > 0) await this.#log.append(batch.entries);
    } catch (error) {
      this.#fail(error, group);
      return;
    }
    const events = batch.entries.flatMap((entry) => this.#state.apply(entry));
    if (events.length > 0) this.#onApplied(events);
    for (const answer of answers) answer();
    try {
      await this.#rewriter.afterGroup(batch.entries.some((entry) => entry.type === 'compacted'));
    } catch (error) {
      this.#fail(error, []);
    }
  }

  #fail(cause: unknown, group: readonly Submission[]): void {
    const failure = new KeyspaceFailedError(this.#place.directory, cause);
    this.#failure = failure;
    for (const submission of [...group, ...this.#pending.splice(0)]) submission.fail(failure);
  }
}
