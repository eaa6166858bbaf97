import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StatusDraft } from './status-draft.js';

test("a reconcile's own list of conditions does not make the runtime's condition a new one each time", () => {
  const own = { type: 'Available', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' };
  const ready = { type: 'Ready', status: 'True', reason: 'Settled', message: 'all is well' };
  const reconcile = (before: Readonly<Record<string, unknown>>, now: string) => {
    const draft = new StatusDraft();
    draft.setFields({ conditions: [own] });
    draft.setDefaultCondition(ready);
    return draft.applyTo(before, { now, generation: undefined, isComplete: true });
  };
  const first = reconcile({}, '2026-01-01T00:00:00Z');
  assert.deepEqual(first, { conditions: [own, { ...ready, lastTransitionTime: '2026-01-01T00:00:00Z' }] });
  assert.deepEqual(reconcile(first, '2026-01-01T00:05:00Z'), first);
});
