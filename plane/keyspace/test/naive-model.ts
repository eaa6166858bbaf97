import type { KeyRange, KeyValue, LeaseId, Revision } from '../src/index.js';

/** The keyspace as a whole copy of the map for each revision; index 0 is not a revision. */
export class NaiveModel {
  readonly states: ReadonlyMap<string, KeyValue>[] = [new Map(), new Map()];
  compacted = 0;

  get revision(): Revision {
    return this.states.length - 1;
  }
  get now(): ReadonlyMap<string, KeyValue> {
    return this.at(this.revision);
  }
  at(revision: Revision): ReadonlyMap<string, KeyValue> {
    return this.states[revision] ?? new Map();
  }

  put(key: string, value: Uint8Array, lease?: LeaseId): void {
    const before = this.now.get(key);
    const modRevision = this.revision + 1;
    const keyValue = {
      key,
      value,
      createRevision: before?.createRevision ?? modRevision,
      modRevision,
      version: (before?.version ?? 0) + 1,
      ...(lease !== undefined && { lease }),
    };
    this.states.push(new Map(this.now).set(key, keyValue));
  }
  delete(...keys: readonly string[]): void {
    const next = new Map(this.now);
    for (const key of keys) next.delete(key);
    this.states.push(next);
  }
  endLease(lease: LeaseId): void {
    const doomed = [...this.now.values()].filter((keyValue) => keyValue.lease === lease);
    if (doomed.length > 0) this.delete(...doomed.map(({ key }) => key));
  }
  /** Takes back all revisions after this one. */
  truncate(revision: Revision): void {
    this.states.length = revision + 1;
  }

  range(range: KeyRange, revision: Revision): KeyValue[] {
    return [...this.at(revision).values()].filter(({ key }) => isInside(range, key)).sort(byBytes);
  }
  /** `put|delete key revision` for each change with revision > `after`. */
  changes(range: KeyRange, after: Revision): string[] {
    const changes: string[] = [];
    for (let revision = after + 1; revision <= this.revision; revision++) {
      const before = this.at(revision - 1);
      const now = this.at(revision);
      const keys = new Set([...before.keys(), ...now.keys()]);
      for (const key of keys) {
        if (isInside(range, key) && before.get(key) !== now.get(key)) {
          changes.push(`${now.has(key) ? 'put' : 'delete'} ${key} ${revision}`);
        }
      }
    }
    return changes;
  }
}

/** For comparing: the bytes of a value as numbers, whatever holds them. */
export function plain(keyValue: KeyValue) {
  return { ...keyValue, value: [...keyValue.value] };
}

function isInside({ start, end }: KeyRange, key: string): boolean {
  if (end === undefined) return key === start;
  const bytes = Buffer.from(key);
  const isBelowEnd = end === '\0' || Buffer.compare(bytes, Buffer.from(end)) < 0;
  return Buffer.compare(bytes, Buffer.from(start)) >= 0 && isBelowEnd;
}

function byBytes(left: KeyValue, right: KeyValue): number {
  return Buffer.compare(Buffer.from(left.key), Buffer.from(right.key));
}
