import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judge, readKnownDifferences } from './golden/known-differences.js';
import { runOnOwnPlanes } from './golden/own-planes.js';
import type { TranscriptResult } from './golden/run.js';
import { readTranscripts } from './golden/transcript.js';

test('every recorded step of kube-apiserver 1.36.2 agrees, or docs/compatibility.md says why it does not', async () => {
  const known = readKnownDifferences();
  const isExpected = (result: TranscriptResult) => judge([result], known).length === 0;
  const results = await runOnOwnPlanes(readTranscripts(), { isExpected });
  assert.equal(results.flatMap(({ steps }) => steps).length, 1431);
  const differing = results.flatMap(({ steps }) => steps.filter(({ differences }) => differences.length > 0));
  assert.ok(differing.length / 1431 <= 0.03, `${differing.length} steps differ: fewer than 97 % agree`);
  const wrong = judge(results, known);
  assert.deepEqual(wrong, [], 'the list is made anew by: npm run golden -- --write');
});
