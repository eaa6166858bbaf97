import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { realWorld } from '@castellan/world';
import type { LogRequest } from '../src/index.js';
import { type FakeNode, fakeNode } from './fake-node.js';
import { type ServerUnderTest, startServer } from './server-under-test.js';

const pods = '/api/v1/namespaces/default/pods';
const asked: LogRequest[] = [];
const nowMs = Date.parse('2026-01-01T00:01:00Z');
let api: ServerUnderTest;
let node: FakeNode;
before(async () => {
  node = await fakeNode();
  const real = realWorld();
  const world = { ...real, clock: { ...real.clock, now: () => nowMs } };
  const logs = (request: LogRequest, signal: AbortSignal) => {
    asked.push(request);
    return node.logs(request, signal);
  };
  api = await startServer({ world, nodeStreams: { ...node, logs } });
  const spec = { nodeName: 'n1', containers: [{ name: 'main', image: 'x' }] };
  await api.send('POST', pods, { metadata: { name: 'p' }, spec });
});
after(async () => {
  await api.stop();
  await node.close();
});

test('since is a number of seconds or a time, and the node is told when that was', async () => {
  const base = { namespace: 'default', pod: 'p', container: 'main', follow: false, previous: false, timestamps: false };
  await api.send('GET', `${pods}/p/log?sinceSeconds=20`);
  assert.deepEqual(asked.at(-1), { ...base, sinceMs: nowMs - 20_000 });
  await api.send('GET', `${pods}/p/log?sinceTime=2026-01-01T00:00:30.5Z&limitBytes=9`);
  assert.deepEqual(asked.at(-1), { ...base, limitBytes: 9, sinceMs: nowMs - 29_500 });
  await api.send('GET', `${pods}/p/log?sinceTime=2026-01-01T01:00:30%2B01:00`);
  assert.deepEqual(asked.at(-1), { ...base, sinceMs: nowMs - 30_000 });
});

test('options that may not be are refused in the words of upstream', async () => {
  const invalid = (problem: string) => `PodLogOptions "p" is invalid: ${problem}`;
  const cases: readonly (readonly [query: string, code: number, message: string])[] = [
    ['tailLines=-1', 422, invalid('tailLines: Invalid value: -1: must be greater than or equal to 0')],
    ['limitBytes=0', 422, invalid('limitBytes: Invalid value: 0: must be greater than 0')],
    ['sinceSeconds=0', 422, invalid('sinceSeconds: Invalid value: 0: must be greater than 0')],
    [
      'sinceSeconds=1&sinceTime=2026-01-01T00:00:00Z',
      422,
      invalid(': Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified'),
    ],
    ['stream=Stdout', 422, invalid('stream: Forbidden: may not be specified')],
    ['tailLines=x', 400, 'strconv.ParseInt: parsing "x": invalid syntax'],
    ['sinceTime=today', 400, 'parsing time "today" as "2006-01-02T15:04:05Z07:00": cannot parse "today" as "2006"'],
  ];
  for (const [query, code, message] of cases) {
    const reply = await api.send('GET', `${pods}/p/log?${query}`);
    assert.equal(reply.status, code, query);
    assert.equal(reply.json.message, message);
  }
});
