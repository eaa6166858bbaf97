import assert from 'node:assert/strict';
import { test } from 'node:test';
import { events as coreEvents, eventsV1, type KubernetesObject, StatusError } from '@castellan/machinery';
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
  const stored = async () => (await client.list(eventsV1)).items;
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

test('writes events of events.k8s.io/v1, with all that a server asks of them', async () => {
  const { world, recorder, stored, end } = setUp();
  recorder.record(about('a'), started);
  await world.advance(0);
  const [{ metadata, ...event } = { metadata: {} }] = await stored();
  assert.match(metadata.name ?? '', /^a\.[0-9a-f]+/);
  assert.equal(metadata.namespace, 'prod');
  assert.deepEqual(event, {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    regarding: { apiVersion: 'v1', kind: 'Pod', namespace: 'prod', name: 'a', uid: 'uid-a', resourceVersion: '5' },
    type: 'Normal',
    reason: 'Started',
    action: 'Reconcile',
    note: 'it started',
    eventTime: '2026-01-01T00:00:00.000000Z',
    reportingController: 'etcd',
    reportingInstance: 'etcd',
  });
  await end();
});

test('87: repeats become one object with a growing series, which is written at once and then every ten seconds', async () => {
  const { world, client, recorder, stored, end } = setUp();
  recorder.record(about('a'), started);
  await world.advance(0);
  for (let at = 0; at < 100; at += 1) {
    recorder.record(about('a'), started);
    await world.advance(200);
  }
  await world.advance(10_000);
  const [event, ...others] = await stored();
  assert.deepEqual(event?.series, { count: 101, lastObservedTime: '2026-01-01T00:00:19.800000Z' });
  assert.deepEqual([event?.eventTime, others], ['2026-01-01T00:00:00.000000Z', []]);
  assert.deepEqual([client.requests('POST').length, client.requests('PATCH').length], [1, 3]);
  recorder.record(about('b'), started);
  recorder.record(about('a'), { ...started, message: 'it started again' });
  await world.advance(0);
  assert.equal((await stored()).length, 3);
  await end();
});

test('87: repeats that come while the first is being written are in it or in one write after it', async () => {
  const { world, client, recorder, stored, end } = setUp();
  for (let at = 0; at < 10; at += 1) recorder.record(about('a'), started);
  await world.advance(0);
  const all = await stored();
  assert.deepEqual(
    all.map(({ series }) => series?.count),
    [10],
  );
  assert.ok(client.requests('P').length <= 2);
  await end();
});

test('a role that allows core/v1 events only is enough', async () => {
  const { world, client, writer, recorder, end } = setUp();
  client.intercept = (call) => {
    if (call.includes('/apis/events.k8s.io/')) throw StatusError.of('Forbidden', 'not allowed');
  };
  recorder.record(about('a'), started);
  await world.advance(0);
  recorder.record(about('a'), started);
  await world.advance(0);
  const [event] = (await client.list(coreEvents)).items;
  assert.deepEqual(
    [event?.involvedObject.name, event?.message, event?.reportingComponent, event?.series?.count],
    ['a', 'it started', 'etcd', 2],
  );
  assert.equal(client.requests('POST /apis/events.k8s.io').length, 1, 'it is not tried again');
  assert.equal(writer.dropped, 0);
  await end();
});

test('88: after six quiet minutes the next one is a new object', async () => {
  const { world, recorder, stored, end } = setUp();
  recorder.record(about('a'), started);
  await world.advance(361_000);
  recorder.record(about('a'), started);
  await world.advance(0);
  assert.deepEqual(
    (await stored()).map(({ series }) => series),
    [undefined, undefined],
  );
  await end();
});

test('89: a repeat of an event that is gone makes it anew', async () => {
  const { world, client, recorder, stored, end } = setUp();
  recorder.record(about('a'), started);
  await world.advance(0);
  const name = (await stored())[0]?.metadata.name ?? '';
  await client.delete(eventsV1, { namespace: 'prod', name });
  recorder.record(about('a'), started);
  await world.advance(0);
  assert.deepEqual(
    (await stored()).map(({ series }) => series?.count),
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

test('91: closing writes the repeats that wait for their time', async () => {
  const { world, recorder, stored, end } = setUp();
  recorder.record(about('a'), started);
  await world.advance(0);
  for (let at = 0; at < 5; at += 1) {
    recorder.record(about('a'), started);
    await world.advance(100);
  }
  await end();
  assert.equal((await stored())[0]?.series?.count, 6);
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
