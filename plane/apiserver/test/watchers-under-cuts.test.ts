import assert from 'node:assert/strict';
import { test } from 'node:test';
import { watchersUnderCuts } from './watchers-under-cuts.js';

// `npm run sim` does the same with 100 watchers for a minute.
test('A1, A2: no watcher misses a change or goes back in time while watches are cut and history is compacted', async () => {
  const { cuts, events, relists } = await watchersUnderCuts({ watchers: 20, forMs: 3_000, seed: 1 });
  assert.ok(cuts >= 5, `only ${cuts} cuts`);
  assert.ok(events >= 1_000, `only ${events} events`);
  assert.ok(relists >= 1, 'nobody was too late');
});
