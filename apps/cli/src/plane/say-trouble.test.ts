import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sayTroubleOnce } from './say-trouble.js';

test('trouble is said with its object and its error, and what repeats itself is said once', () => {
  const said: string[] = [];
  const say = sayTroubleOnce((line) => said.push(line));
  for (let time = 0; time < 3; time += 1)
    say('pod sync failed', { pod: 'default/a', error: new Error('no bwrap\nat line 1') });
  say('pod sync failed', { pod: 'default/b', error: 'no bwrap' });
  say('the log is full', {});
  assert.deepEqual(said, [
    'pod sync failed default/a: no bwrap',
    'pod sync failed default/b: no bwrap',
    'the log is full',
  ]);
});
