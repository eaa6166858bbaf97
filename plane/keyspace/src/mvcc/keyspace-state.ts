import type { World } from '@castellan/world';
import type { KeyEvent } from '../keyspace.js';
import type { Entry } from './entry.js';
import { LeaseTable } from './lease-table.js';
import { RevisionedMap } from './revisioned-map.js';

/** All that a keyspace knows: the result of its entries in order. */
export class KeyspaceState {
  readonly map = new RevisionedMap();
  readonly leases: LeaseTable;

  constructor(world: World) {
    this.leases = new LeaseTable(world);
  }

  /** Returns the changes of keys, for the watchers. */
  apply(entry: Entry): readonly KeyEvent[] {
    switch (entry.type) {
      case 'changes':
        this.map.apply(entry.revision, entry.events);
        for (const event of entry.events) this.leases.follow(event);
        return entry.events;
      case 'lease-granted':
        this.leases.grant(entry.lease, entry.ttlSeconds);
        return [];
      case 'lease-ended':
        this.leases.end(entry.lease);
        return [];
      case 'compacted':
        this.map.compact(entry.revision);
        return [];
    }
  }
}
