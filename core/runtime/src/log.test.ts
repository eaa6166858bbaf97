import assert from 'node:assert/strict';
import { test } from 'node:test';
import { simulatedWorld } from '@castellan/world';
import { createLog, logWith } from './log.js';

const world = simulatedWorld(1);

test('writes one JSON object per line, with errors as their messages', () => {
  const lines: string[] = [];
  const log = logWith(createLog({ write: (line) => lines.push(line), world }), { controller: 'etcd' });
  log.debug('not written at level info');
  log.warn('careful', { key: 'default/a', cause: new Error('broken') });
  assert.deepEqual(
    lines.map((line) => JSON.parse(line)),
    [
      {
        time: '2026-01-01T00:00:00.000Z',
        level: 'warn',
        message: 'careful',
        controller: 'etcd',
        key: 'default/a',
        cause: 'broken',
      },
    ],
  );
});

test('writes for people: the time of day, the level, the message, then the fields', () => {
  const lines: string[] = [];
  const log = createLog({ write: (line) => lines.push(line), world, format: 'human', level: 'debug' });
  log.debug('reconcile', { trigger: 'pods default/a was added', at: { x: 1 } });
  assert.deepEqual(lines, ['00:00:00.000 DEBUG reconcile trigger=pods default/a was added at={"x":1}']);
});

test('a field that cannot be written as JSON does not lose the line', () => {
  const circular: Record<string, unknown> = {};
  circular.self = circular;
  for (const format of ['json', 'human'] as const) {
    const lines: string[] = [];
    createLog({ write: (line) => lines.push(line), world, format }).error('odd', { circular, big: 1n });
    assert.equal(lines.length, 1);
    assert.match(lines[0] ?? '', /odd/);
  }
});
