import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ObjectMeta } from '@castellan/machinery';
import fc from 'fast-check';
import type { ServedResource } from '../src/discovery.js';
import { OwnerGraph } from '../src/garbage-collector/owner-graph.js';

const things: ServedResource = {
  group: 'x',
  version: 'v1',
  kind: 'Thing',
  plural: 'things',
  isNamespaced: true,
  verbs: [],
};

function thing(uid: string, owners: readonly string[] = [], more: ObjectMeta = {}): ObjectMeta {
  const ownerReferences = owners.map((owner) => ({ apiVersion: 'x/v1', kind: 'Thing', name: owner, uid: owner }));
  return { uid, name: uid, namespace: 'default', ownerReferences, ...more };
}

const deletedInForeground = { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['foregroundDeletion'] };

test('G13: a dependent is a suspect while its owner is unknown, and again when the owner is gone', () => {
  const graph = new OwnerGraph();
  assert.deepEqual(graph.observe(things, thing('pod', ['cluster'])), ['pod']);
  assert.equal(graph.isSettled('pod'), false);
  assert.deepEqual(graph.observe(things, thing('cluster')), []);
  assert.equal(graph.isSettled('pod'), true);
  assert.deepEqual(graph.observe(things, thing('pod', ['cluster'])), []);
  assert.deepEqual(graph.remove('cluster'), ['pod']);
  assert.deepEqual(graph.remove('pod'), []);
  assert.equal(graph.size, 0);
});

test('G13: a dependent in another namespace than its owner is a suspect, whichever is seen first', () => {
  const ownerFirst = new OwnerGraph();
  ownerFirst.observe(things, thing('cluster', [], { namespace: 'other' }));
  assert.deepEqual(ownerFirst.observe(things, thing('pod', ['cluster'])), ['pod']);
  const dependentFirst = new OwnerGraph();
  dependentFirst.observe(things, thing('pod', ['cluster']));
  assert.deepEqual(dependentFirst.observe(things, thing('cluster', [], { namespace: 'other' })), ['pod']);
});

test('G13: a foreground deletion makes suspects of owner and dependents; each that goes wakes the owner', () => {
  const graph = new OwnerGraph();
  graph.observe(things, thing('cluster'));
  graph.observe(things, thing('pod', ['cluster']));
  assert.deepEqual(graph.observe(things, thing('cluster', [], deletedInForeground)), ['cluster', 'pod']);
  assert.equal(graph.isSettled('pod'), false);
  assert.deepEqual(graph.remove('pod'), ['cluster']);
});

test('G13: in every order of events, exactly those with an unknown owner are unsettled', () => {
  const uid = fc.constantFrom('a', 'b', 'c', 'd', 'e');
  const change = fc.oneof(
    fc.record({ kind: fc.constant('observe' as const), uid, owners: fc.uniqueArray(uid, { maxLength: 2 }) }),
    fc.record({ kind: fc.constant('remove' as const), uid, owners: fc.constant([]) }),
  );
  fc.assert(
    fc.property(fc.array(change, { maxLength: 30 }), (changes) => {
      const graph = new OwnerGraph();
      const model = new Map<string, readonly string[]>();
      const suspects = new Set<string>();
      for (const { kind, uid, owners } of changes) {
        const woken = kind === 'observe' ? graph.observe(things, thing(uid, owners)) : graph.remove(uid);
        if (kind === 'observe') model.set(uid, owners);
        else model.delete(uid);
        for (const suspect of woken) suspects.add(suspect);
      }
      for (const [uid, owners] of model) {
        const isOrphaned = owners.some((owner) => !model.has(owner));
        assert.equal(graph.isSettled(uid), !isOrphaned, uid);
        if (isOrphaned) assert.ok(suspects.has(uid), `${uid} was never a suspect`);
        for (const owner of owners) assert.ok(graph.dependentsOf(owner).some((node) => node.uid === uid));
      }
      assert.equal(graph.size, model.size);
    }),
  );
});
