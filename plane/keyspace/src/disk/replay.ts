import type { KeyspaceState } from '../mvcc/keyspace-state.js';
import { changeEvent } from '../mvcc/write-batch.js';
import type { LogRecord } from './record-codec.js';
import { ValueSlabs } from './value-slabs.js';

/** Brings a new state to where the records left it. */
export class Replay {
  readonly state: KeyspaceState;
  /** The number of the frame that follows the snapshot; 1 without one. */
  nextSequence = 1;
  isSnapshotWhole = false;
  readonly #slabs = new ValueSlabs();

  constructor(state: KeyspaceState) {
    this.state = state;
  }

  /** Copies the record's values. Throws when the record cannot follow those before it. */
  apply(record: LogRecord): void {
    const { map, leases } = this.state;
    switch (record.type) {
      case 'base':
        map.restore(record.compactedRevision);
        leases.restore(record.lastLease);
        this.nextSequence = record.nextSequence;
        return;
      case 'base-key': {
        const keyValue = { ...record.keyValue, value: this.#slabs.copy(record.keyValue.value) };
        map.restoreKey(keyValue);
        leases.follow({ type: 'put', key: keyValue.key, revision: keyValue.modRevision, keyValue });
        return;
      }
      case 'end':
        this.isSnapshotWhole = true;
        return;
      case 'changes': {
        const { revision } = record;
        const events = record.changes.map((change) => {
          const { key, value } = change;
          const kept = value === undefined ? change : { ...change, value: this.#slabs.copy(value) };
          return changeEvent(kept, revision, map.get(key));
        });
        this.state.apply({ type: 'changes', revision, events });
        return;
      }
      default:
        this.state.apply(record);
    }
  }
}
