import assert from 'node:assert/strict';
import { test } from 'node:test';
import { humanDuration } from './human-duration.js';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

test('ages are printed as kubectl prints them', () => {
  const examples: readonly (readonly [number, string])[] = [
    [-5 * second, '<invalid>'],
    [-1 * second, '0s'],
    [0, '0s'],
    [119 * second + 999, '119s'],
    [2 * minute, '2m'],
    [5 * minute + 30 * second, '5m30s'],
    [10 * minute + 59 * second, '10m'],
    [179 * minute, '179m'],
    [3 * hour, '3h'],
    [7 * hour + 59 * minute, '7h59m'],
    [8 * hour + 59 * minute, '8h'],
    [47 * hour, '47h'],
    [2 * day, '2d'],
    [2 * day + 4 * hour, '2d4h'],
    [8 * day + 4 * hour, '8d'],
    [729 * day, '729d'],
    [2 * 365 * day, '2y'],
    [3 * 365 * day + 20 * day, '3y20d'],
    [9 * 365 * day + 20 * day, '9y'],
  ];
  for (const [ms, text] of examples) assert.equal(humanDuration(ms), text);
});
