import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Condition, StatusError } from '@castellan/machinery';
import { settled } from '../src/index.js';
import { Bench, caches, key } from './cache-bench.js';

test('O3, O4, O5: status, conditions and observedGeneration are one write, and only when something differs', async () => {
  const bench = new Bench({
    async reconcile({ spec }, { status, condition }) {
      status({ ready: 0 });
      status({ ready: spec.size, note: undefined });
      condition('Available', spec.size > 1 ? 'True' : 'False', 'Counted', `size is ${spec.size}`);
      return settled();
    },
  });
  await bench.create({ size: 1 });
  await bench.start();
  assert.equal(bench.takeWrites().length, 2, 'ours of the object, and one of its status');
  const available = { type: 'Available', reason: 'Counted', lastTransitionTime: '2026-01-01T00:00:00Z' };
  assert.deepEqual((await bench.object()).status, {
    ready: 1,
    observedGeneration: 1,
    conditions: [{ ...available, status: 'False', message: 'size is 1', observedGeneration: 1 }],
  });
  await bench.patch({ metadata: { labels: { touched: 'yes' } } });
  assert.equal(bench.takeWrites().length, 1, 'only the one of this test');
  await bench.world.advance(5_000);
  await bench.patch({ metadata: { generation: 2 }, spec: { size: 2 } });
  await bench.world.advance(5_000);
  await bench.patch({ metadata: { generation: 3 }, spec: { size: 3 } });
  const became = (await bench.object()).status;
  assert.deepEqual([became?.observedGeneration, became?.ready], [3, 3]);
  assert.deepEqual(became?.conditions, [
    {
      ...available,
      status: 'True',
      message: 'size is 3',
      observedGeneration: 3,
      lastTransitionTime: '2026-01-01T00:00:05Z',
    },
  ]);
  await bench.stop();
});

test('O3: a status that another wrote in between keeps what they wrote', async () => {
  const bench = new Bench({
    async reconcile(_object, { status, condition }) {
      status({ ready: 1 });
      condition('Ours', 'True', 'Seen', 'seen');
      return settled();
    },
  });
  await bench.create();
  const theirs: Condition = { type: 'Theirs', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' };
  bench.client.intercept = async (call) => {
    if (!call.includes('"Ours"')) return;
    bench.client.intercept = () => undefined;
    await bench.client.patch(caches, key, {
      type: 'merge',
      body: { status: { note: 'theirs', conditions: [theirs] } },
    });
  };
  await bench.start();
  const { status } = await bench.object();
  assert.deepEqual([status?.note, status?.ready], ['theirs', 1]);
  assert.deepEqual(
    status?.conditions?.map(({ type }) => type),
    ['Theirs', 'Ours'],
  );
  assert.deepEqual(bench.errors, []);
  await bench.stop();
});

test('O3: a field that the schema drops is not written again and again', async () => {
  const bench = new Bench({
    async reconcile(_object, { status }) {
      status({ ready: 1 });
      return settled();
    },
  });
  await bench.create();
  const patch = bench.client.patch.bind(bench.client);
  bench.client.patch = (type, at, change, options) =>
    patch(
      type,
      at,
      { ...change, body: JSON.parse(JSON.stringify(change.body).replace(',"observedGeneration":1', '')) },
      options,
    );
  await bench.start();
  assert.deepEqual((await bench.object()).status, { ready: 1 });
  bench.takeWrites();
  for (const at of ['1', '2']) await bench.patch({ metadata: { labels: { at } } });
  assert.equal(bench.takeWrites().length, 2);
  await bench.stop();
});

test('O4: what a reconcile saw before it failed is written, but its generation does not count as observed', async () => {
  const bench = new Bench({
    async reconcile(_object, { status }) {
      status({ note: 'looked' });
      throw new Error('not today');
    },
  });
  await bench.create();
  await bench.start();
  assert.deepEqual((await bench.object()).status, { note: 'looked' });
  assert.match(String(bench.errors[0]), /not today/);
  await bench.stop();
});

test('a kind without a status subresource is said to have none, once', async () => {
  const bench = new Bench({
    async reconcile(_object, { status }) {
      status({ ready: 1 });
      return settled();
    },
  });
  await bench.create();
  bench.client.intercept = (call) => {
    if (call.startsWith('PATCH')) throw StatusError.of('NotFound', 'the server could not find the requested resource');
  };
  await bench.start();
  await bench.world.advance(60_000);
  assert.equal(bench.errors.length, 1);
  assert.match(String(bench.errors[0]), /caches\.example\.com has no status subresource; add `subresources/);
  await bench.stop();
});

test('O10: the status and the finalizer that a reconcile wrote ask for no further reconcile', async () => {
  let runs = 0;
  const bench = new Bench({
    async reconcile(_object, { status }) {
      runs += 1;
      status({ note: `run ${runs}` });
      return settled();
    },
    finalize: async () => settled(),
  });
  await bench.create();
  await bench.start();
  await bench.world.advance(1_000);
  assert.equal(runs, 1);
  assert.equal((await bench.object()).status?.note, 'run 1');
  await bench.patch({ metadata: { generation: 2 }, spec: { size: 2 } });
  assert.equal(runs, 2);
  await bench.stop();
});

test('O10, 58: what another wrote while a reconcile ran asks for one more, before our write of the status and after it', async () => {
  for (const moment of ['before', 'after'] as const) {
    const seen: unknown[] = [];
    const bench = new Bench({
      async reconcile({ metadata }, { status }) {
        seen.push(metadata.labels?.theirs);
        status({ ready: 1 });
        return settled();
      },
    });
    await bench.create();
    const write = async () => {
      await bench.client.patch(caches, key, { type: 'merge', body: { metadata: { labels: { theirs: moment } } } });
    };
    bench.client.intercept = async (call) => {
      if (!call.includes('"ready"')) return;
      bench.client.intercept = () => undefined;
      if (moment === 'before') await write();
      else queueMicrotask(() => void write());
    };
    await bench.start();
    await bench.world.advance(1_000);
    assert.deepEqual(seen, [undefined, moment], `${moment} our write`);
    assert.deepEqual(bench.errors, []);
    await bench.stop();
  }
});
