import type { World } from '@castellan/world';

/** One thing that happened in a simulated cluster. */
export interface HistoryEntry {
  /** Milliseconds of the cluster's monotonic clock. */
  readonly atMs: number;
  /** Who did it, or to whom it happened: `test`, `plane`, `nodes`, or an operator's process. */
  readonly party: string;
  readonly what: 'request' | 'reply' | 'event' | 'write' | 'fault' | 'process';
  readonly text: string;
}

/** Everything that happened, in order. Two runs are the same when `historyText` of both is. */
export class History {
  readonly entries: HistoryEntry[] = [];
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  note(party: string, what: HistoryEntry['what'], text: string): void {
    this.entries.push({ atMs: this.#world.clock.monotonicNow(), party, what, text });
  }
}

/** One line for each entry. */
export function historyText(entries: readonly HistoryEntry[]): string {
  return entries
    .map(({ atMs, party, what, text }) => `${atMs.toFixed(3).padStart(12)} ${party} ${what} ${text}\n`)
    .join('');
}
