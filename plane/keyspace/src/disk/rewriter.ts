import type { KeyspaceState } from '../mvcc/keyspace-state.js';
import type { KeyspaceNotice } from './load.js';
import type { LogPlace, SegmentedLog } from './segmented-log.js';
import { captureSnapshot, writeSnapshot } from './snapshot.js';

export interface LogLimits {
  /** A segment is ended behind this size. */
  readonly segmentBytes: number;
  /** The log is rewritten when it is larger than one and a half times what is held, and this. */
  readonly slackBytes: number;
}

export const defaultLogLimits: LogLimits = { segmentBytes: 64 * 1024 * 1024, slackBytes: 4 * 1024 * 1024 };

/**
 * Keeps the log short: after a compaction, when more than a third of the log is garbage, a snapshot takes the place of all
 * segments before the present one. It is written while the keyspace is in use. When that fails nothing is lost:
 * the log stays as it is until the next compaction.
 */
export class Rewriter {
  readonly #state: KeyspaceState;
  readonly #place: LogPlace;
  readonly #log: SegmentedLog;
  readonly #limits: LogLimits;
  readonly #onNotice: (notice: KeyspaceNotice) => void;
  readonly #abort = new AbortController();
  #rewriting: Promise<void> | undefined;

  constructor(options: {
    readonly state: KeyspaceState;
    readonly place: LogPlace;
    readonly log: SegmentedLog;
    readonly limits: LogLimits;
    readonly onNotice: (notice: KeyspaceNotice) => void;
  }) {
    this.#state = options.state;
    this.#place = options.place;
    this.#log = options.log;
    this.#limits = options.limits;
    this.#onNotice = options.onNotice;
  }

  /** Between two groups: no append is under way. Fails when the log cannot be continued. */
  async afterGroup(isCompacted: boolean): Promise<void> {
    if (isCompacted && this.#rewriting === undefined && this.#isMostlyGarbage()) {
      await this.#log.roll();
      // Here the state is exactly what the segments before the new one hold.
      const records = captureSnapshot(this.#state, this.#log.nextSequence);
      this.#rewriting = this.#rewrite(records, this.#log.segment);
    } else if (this.#log.segmentBytes > this.#limits.segmentBytes) {
      await this.#log.roll();
    }
  }

  async close(): Promise<void> {
    this.#abort.abort();
    await this.#rewriting;
  }

  #isMostlyGarbage(): boolean {
    return this.#log.sizeBytes > 1.5 * this.#state.map.heldBytes + this.#limits.slackBytes;
  }

  async #rewrite(records: ReturnType<typeof captureSnapshot>, number: number): Promise<void> {
    try {
      const sizeBytes = await writeSnapshot(records, { place: this.#place, number, signal: this.#abort.signal });
      await this.#log.replaceBy(number, sizeBytes);
    } catch (error) {
      if (!this.#abort.signal.aborted) this.#onNotice(rewriteFailed(this.#place.directory, error));
    }
    this.#rewriting = undefined;
  }
}

function rewriteFailed(directory: string, error: unknown): KeyspaceNotice {
  const reason = error instanceof Error ? error.message : String(error);
  return {
    kind: 'rewrite-failed',
    message: `the log in ${directory} was not made shorter (${reason}); nothing is lost, the next compaction tries again`,
  };
}
