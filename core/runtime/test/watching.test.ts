import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connect, type RawResponse } from '@castellan/client';
import { configMaps, StatusError } from '@castellan/machinery';
import { simulatedWorld } from '@castellan/world';
import { Informer } from '../src/index.js';
import { InformerBench } from './informer-bench.js';

test('R14, 44: while it is paused there is no stream; when it goes on, all is read anew and not older than what is held', async () => {
  for (const usesWatchList of [false, true]) {
    const bench = new InformerBench({ usesWatchList });
    await bench.create('a');
    await bench.create('b');
    await bench.start();
    bench.takeChanges();
    bench.informer.pause();
    await bench.settle();
    assert.deepEqual(bench.client.openWatches, []);
    await bench.set('2', 'a');
    await bench.delete('b');
    await bench.world.advance(3_600_000);
    assert.deepEqual([bench.value('a'), bench.value('b'), bench.takeChanges()], ['1', '1', []]);
    bench.informer.resume();
    await bench.settle();
    assert.deepEqual(bench.takeChanges(), ['updated a=2', 'deleted b=1']);
    if (!usesWatchList) assert.match(bench.client.requests('LIST').at(-1) ?? '', /"resourceVersion":"102"/);
    assert.deepEqual(bench.states, ['listing', 'watching', 'paused', 'listing', 'watching']);
    bench.informer.pause();
    await bench.stop();
    assert.equal(bench.states.at(-1), 'stopped');
    assert.equal(bench.world.pendingTimers, 0);
  }
});

test('R15: a server whose storage was restored is followed from where it is now', async () => {
  const bench = new InformerBench();
  await bench.create('a');
  await bench.create('lost');
  await bench.start();
  for (const value of ['2', '3', '4']) await bench.set(value);
  await bench.settle();
  bench.takeChanges();
  assert.equal(bench.informer.revision, '105');
  bench.client.restore(90, configMaps, { namespace: 'default', name: 'lost' });
  await bench.set('old');
  const tooLarge = StatusError.of('Timeout', 'Too large resource version', {
    causes: [{ reason: 'ResourceVersionTooLarge' }],
  });
  bench.client.intercept = (call) => {
    if (call.includes('"resourceVersion":"105"')) throw tooLarge;
  };
  bench.client.cutWatches(StatusError.of('Expired', 'too old'));
  await bench.world.advance(10_000);
  assert.deepEqual(bench.takeChanges(), ['updated a=old', 'deleted lost=1']);
  assert.equal(bench.informer.revision, '91');
  assert.match(String(bench.problems.at(-1)), /the server is at revision 91 and was at 105: its storage was restored/);
  await bench.set('new');
  await bench.settle();
  assert.deepEqual(bench.takeChanges(), ['updated a=new']);
  await bench.stop();
});

test('W7, 55: its revision does not go back when a list is older than what the watch brought', async () => {
  const bench = new InformerBench();
  await bench.create('a');
  await bench.start();
  const stale = await bench.client.list(configMaps);
  await bench.set('2');
  await bench.settle();
  assert.equal(bench.informer.revision, '102');
  const list = bench.client.list.bind(bench.client);
  let lists = 0;
  bench.client.list = async (type, options) => {
    lists += 1;
    const fresh = await list(type, options);
    return lists === 1 ? { ...fresh, metadata: stale.metadata } : fresh;
  };
  bench.client.cutWatches(StatusError.of('Expired', 'too old'));
  await bench.settle();
  assert.deepEqual([lists, bench.informer.revision, bench.value()], [1, '102', '2']);
  await bench.stop();
});

test('R16: a stream that is silent for longer than its timeout and a margin is dropped, and another one goes on from there', async () => {
  const world = simulatedWorld(9);
  const watches: URLSearchParams[] = [];
  let closed = 0;
  const silent = async function* (signal: AbortSignal | undefined): AsyncGenerator<Uint8Array, void, undefined> {
    await new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
    yield Buffer.from('');
  };
  const text = async function* (value: unknown): AsyncGenerator<Uint8Array, void, undefined> {
    yield Buffer.from(JSON.stringify(value));
  };
  const client = connect(
    { server: 'https://in-process' },
    {
      world,
      transport: {
        async send({ path, signal }): Promise<RawResponse> {
          const query = new URL(path, 'https://in-process').searchParams;
          if (query.get('watch') === null) {
            return { status: 200, headers: {}, body: text({ metadata: { resourceVersion: '7' }, items: [] }) };
          }
          watches.push(query);
          signal?.addEventListener('abort', () => {
            closed += 1;
          });
          return { status: 200, headers: {}, body: silent(signal) };
        },
        close: () => Promise.resolve(),
      },
    },
  );
  const stop = new AbortController();
  const informer = new Informer({ client, world, type: configMaps, usesWatchList: false });
  const ended = informer.run(stop.signal);
  await world.advance(0);
  const timeoutMs = 1_000 * Number(watches[0]?.get('timeoutSeconds'));
  await world.advance(timeoutMs + 14_000);
  assert.deepEqual([watches.length, closed], [1, 0]);
  await world.advance(4_000);
  assert.deepEqual([closed, watches.map((query) => query.get('resourceVersion'))], [1, ['7', '7']]);
  stop.abort(new Error('stop'));
  await world.run(ended, 1_000);
  assert.equal(world.pendingTimers, 0);
});

test('R17: an informer of which nothing changes makes one request in 5 to 10 minutes', async () => {
  const bench = new InformerBench();
  await bench.create('a');
  await bench.start();
  const before = bench.client.calls.length;
  const watch = bench.client.openWatches[0];
  assert(watch !== undefined);
  for (let minute = 0; minute < 60; minute += 1) {
    await bench.world.advance(60_000);
    const timeoutMs = 1_000 * Number(bench.client.openWatches[0]?.options.timeoutSeconds ?? 0);
    if (minute % 10 === 9) {
      assert.ok(timeoutMs >= 300_000 && timeoutMs < 600_000);
      bench.client.cutWatches();
    }
  }
  assert.deepEqual(
    bench.client.calls.slice(before).map((call) => call.split(' ')[0]),
    ['WATCH', 'WATCH', 'WATCH', 'WATCH', 'WATCH'],
  );
  await bench.stop();
});
