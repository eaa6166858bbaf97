import type { World } from '@castellan/world';
import type { KeyEvent, Keyspace } from './keyspace.js';
import type { Committer } from './mvcc/committer.js';
import { KeyspaceState } from './mvcc/keyspace-state.js';
import { RevisionedKeyspace } from './mvcc/revisioned-keyspace.js';
import { WriteBatch } from './mvcc/write-batch.js';

/** A keyspace that is gone with its process; for tests and simulations. Each write is a group of its own. */
export function memoryKeyspace(world: World): Keyspace {
  const state = new KeyspaceState(world);
  return new RevisionedKeyspace(state, new MemoryCommitter(state));
}

class MemoryCommitter implements Committer {
  readonly sizeBytes = 0;
  readonly failure = undefined;
  readonly #state: KeyspaceState;
  #onApplied: (events: readonly KeyEvent[]) => void = () => undefined;

  constructor(state: KeyspaceState) {
    this.#state = state;
  }

  start(onApplied: (events: readonly KeyEvent[]) => void): void {
    this.#onApplied = onApplied;
  }

  async submit<Result>(decide: (batch: WriteBatch) => Result): Promise<Result> {
    const batch = new WriteBatch(this.#state);
    const result = decide(batch);
    const events = batch.entries.flatMap((entry) => this.#state.apply(entry));
    if (events.length > 0) this.#onApplied(events);
    return result;
  }

  async close(): Promise<void> {}
}
