import assert from 'node:assert/strict';
import { test } from 'node:test';
import { events as eventType, type KubernetesObject, StatusError } from '@castellan/machinery';
import { simulatedWorld } from '@castellan/world';
import { FakeCluster } from '../../test/fake-cluster.js';
import { createLog } from '../log.js';
import { EventWriter } from './event-writer.js';

function setUp() {
  const world = simulatedWorld(2);
  const client = new FakeCluster();
  const lines: string[] = [];
  const writer = new EventWriter({ client, world, log: createLog({ write: (line) => lines.push(line), world }) });
  const running = writer.run();
  const recorder = writer.recorder('etcd');
  const stored = async () => (await client.list(eventType)).items;
  const end = async (): Promise<void> => {
    writer.close(5_000);
    await world.run(running, 10_000);
    assert.equal(world.pendingTimers, 0);
  };
  return { world, client, writer, recorder, stored, end, lines };
}

function about(name: string): KubernetesObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'prod', name, uid: `uid-${name}`, resourceVersion: '5' },
  };
}

const started = { type: 'Normal', reason: 'Started', message: 'it started' } as const;

test('writes a core/v1 Event that kubectl can show', async () => {
  const { world, recorder, stored, end } = setUp();
  recorder.record(about('a'), started);
  await world.advance(0);
  const [event] = await stored();
  assert.match(event?.metadata.name ?? '', /^a\.[0-9a-f]+/);
  assert.deepEqual(
    [event?.metadata.namespace, event?.involvedObject.uid, event?.involvedObject.kind, event?.reason, event?.count],
    ['prod', 'uid-a', 'Pod', 'Started', 1],
  );
  assert.deepEqual([event?.type, event?.source?.component], ['Normal', 'etcd']);
  assert.deepEqual([event?.firstTimestamp, event?.lastTimestamp], ['2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z']);
  await end();
});

test('87: repeats become one object whose count grows, also those that come while it is being written', async () => {
  const { world, client, recorder, stored, end } = setUp();
  for (let at = 0; at < 10; at += 1) recorder.record(about('a'), started);
  await world.advance(2_000);
  recorder.record(about('a'), started);
  await world.advance(0);
  const all = await stored();
  assert.deepEqual(
    all.map(({ count, lastTimestamp }) => [count, lastTimestamp]),
    [[11, '2026-01-01T00:00:02Z']],
  );
  assert.ok(client.requests('P').length <= 3);
  recorder.record(about('b'), started);
  recorder.record(about('a'), { ...started, message: 'it started again' });
  await world.advance(0);
  assert.equal((await stored()).length, 3);
  await end();
});

test('88: after six quiet minutes the next one is a new object', async () => {
  const { world, recorder, stored, end } = setUp();
  recorder.record(about('a'), started);
  await world.advance(361_000);
  recorder.record(about('a'), started);
  await world.advance(0);
  assert.deepEqual(
    (await stored()).map(({ count }) => count),
    [1, 1],
  );
  await end();
});

test('89: a repeat of an event that is gone makes it anew', async () => {
  const { world, client, recorder, stored, end } = setUp();
  recorder.record(about('a'), started);
  await world.advance(0);
  const name = (await stored())[0]?.metadata.name ?? '';
  await client.delete(eventType, { namespace: 'prod', name });
  recorder.record(about('a'), started);
  await world.advance(0);
  assert.deepEqual(
    (await stored()).map(({ count }) => count),
    [2],
  );
  await end();
});

test('90: bursts are capped per object, the queue is bounded, and recording neither waits nor throws', async () => {
  const { world, client, writer, recorder, stored, end, lines } = setUp();
  for (let at = 0; at < 100; at += 1) recorder.record(about('noisy'), { ...started, message: `message ${at}` });
  recorder.record(about('quiet'), started);
  await world.advance(0);
  assert.equal((await stored()).length, 26);
  assert.equal(writer.dropped, 75);
  assert.equal(lines.length, 1, 'drops are reported once');
  client.intercept = () => new Promise(() => undefined);
  for (let at = 0; at < 3_000; at += 1) recorder.record(about(`pod-${at}`), started);
  assert.ok(writer.dropped >= 75 + 1_900);
  client.intercept = () => undefined;
  writer.close(0);
  await world.advance(11_000);
  await end();
});

test('90: an event that the server refuses is dropped, one that it cannot take now is tried again', async () => {
  const { world, client, writer, recorder, stored, end } = setUp();
  client.intercept = () => {
    throw StatusError.of('Forbidden', 'the namespace is being terminated');
  };
  recorder.record(about('a'), started);
  await world.advance(0);
  assert.equal(writer.dropped, 1);
  let refusals = 2;
  client.intercept = () => {
    if (refusals === 0) return;
    refusals -= 1;
    throw StatusError.of('ServiceUnavailable', 'not now');
  };
  recorder.record(about('b'), started);
  await world.advance(10_000);
  assert.equal((await stored()).length, 1);
  await end();
});

test('91: closing writes what is queued, within a limit', async () => {
  const { client, recorder, stored, end } = setUp();
  for (let at = 0; at < 20; at += 1) recorder.record(about(`pod-${at}`), started);
  await end();
  assert.equal((await stored()).length, 20);
  recorder.record(about('late'), started);
  assert.equal((await stored()).length, 20);
  const stuck = setUp();
  stuck.client.intercept = (_call, options) => {
    const { signal } = options as { signal: AbortSignal };
    return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  };
  stuck.recorder.record(about('a'), started);
  await stuck.end();
  assert.ok(stuck.world.clock.monotonicNow() <= 5_000);
  assert.deepEqual(client.openWatches, []);
});
