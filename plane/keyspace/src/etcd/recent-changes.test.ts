import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { KeyEvent } from '../keyspace.js';
import { RecentChanges } from './recent-changes.js';

const largest = new Uint8Array(1_000_000);

function change(revision: number, bytes: number): KeyEvent {
  const key = `/${revision}`;
  const value = largest.subarray(0, bytes);
  return {
    type: 'put',
    key,
    revision,
    keyValue: { key, value, createRevision: revision, modRevision: revision, version: 1 },
  };
}

test('K6: every change after the start is held, whatever was dropped, and never part of a revision', () => {
  const batches = fc.array(
    fc.record({ revisions: fc.integer({ min: 1, max: 900 }), events: fc.integer({ min: 1, max: 3 }) }),
    { maxLength: 8 },
  );
  fc.assert(
    fc.property(batches, fc.constantFrom(0, 100_000), (sizes, bytes) => {
      const recent = new RecentChanges(10);
      const all: KeyEvent[] = [];
      for (const { revisions, events } of sizes) {
        const from = (all.at(-1)?.revision ?? 10) + 1;
        const batch = Array.from({ length: revisions * events }, (_, index) =>
          change(from + Math.floor(index / events), bytes),
        );
        all.push(...batch);
        recent.append(batch);
        const held = recent.after(recent.start);
        const expected = all.filter((event) => event.revision > recent.start);
        assert.ok(held.length === expected.length && held.every((event, index) => event === expected[index]));
      }
    }),
    { numRuns: 30 },
  );
});

test('what is held is bounded, in number and in bytes', () => {
  const many = new RecentChanges(0);
  const large = new RecentChanges(0);
  for (let revision = 1; revision <= 5_000; revision += 1) {
    many.append([change(revision, 1)]);
    large.append([change(revision, 1_000_000)]);
  }
  assert.ok(many.after(many.start).length <= 2_000);
  assert.ok(many.start < 4_000);
  assert.ok(large.after(large.start).length <= 16);
});
