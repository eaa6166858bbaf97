import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ConfigMap, configMaps, keyOf, StatusError } from '@castellan/machinery';
import fc from 'fast-check';
import { InformerBench, textOf } from '../../test/informer-bench.js';

const key = { namespace: 'default', name: 'a' };

test('45: a relist tells of what vanished meanwhile as deleted, and of 10,000 unchanged objects nothing', async () => {
  const bench = new InformerBench();
  for (let at = 0; at < 10_000; at += 1) await bench.create(`object-${at}`);
  await bench.start();
  assert.equal(bench.takeChanges().length, 10_000);
  bench.client.isWatchHeld = true;
  await bench.delete('object-5');
  bench.client.compact();
  bench.client.cutWatches();
  await bench.world.advance(5_000);
  assert.deepEqual(bench.takeChanges(), ['deleted object-5=1']);
  await bench.stop();
});

test('46: an object that was recreated under its name is deleted and added, by a watch and by a list', async () => {
  const bench = new InformerBench();
  await bench.create('a', 'old');
  await bench.start();
  bench.takeChanges();
  bench.client.isWatchHeld = true;
  await bench.delete();
  await bench.create('a', 'new');
  bench.client.release();
  await bench.settle();
  assert.deepEqual(bench.takeChanges(), ['deleted a=old', 'added a=new']);
  bench.client.isWatchHeld = true;
  await bench.delete();
  await bench.create('a', 'newest');
  bench.client.compact();
  bench.client.cutWatches();
  await bench.world.advance(5_000);
  assert.deepEqual(bench.takeChanges(), ['deleted a=new', 'added a=newest']);
  await bench.stop();
});

test('47: the index by owner follows updates and holds nothing for owners without objects', async () => {
  const bench = new InformerBench();
  await bench.create('a', '1', 'x');
  await bench.create('b', '1', 'x');
  await bench.start();
  assert.deepEqual(bench.informer.ownedBy('x').map(keyOf), [key, { ...key, name: 'b' }]);
  await bench.client.patch(configMaps, key, { type: 'merge', body: { metadata: { ownerReferences: null } } });
  await bench.delete('b');
  await bench.settle();
  assert.deepEqual(bench.informer.ownedBy('x'), []);
  await bench.stop();
});

test('48, 51: a handler that comes late is told of all that is held, then of what changes, in order', async () => {
  const bench = new InformerBench();
  await bench.create('a');
  await bench.create('b');
  await bench.start();
  assert(bench.informer.isSynced);
  assert.deepEqual(bench.takeChanges(), ['added a=1', 'added b=1']);
  const late: string[] = [];
  bench.informer.addHandler((change) => late.push(textOf(change)));
  assert.deepEqual(late, ['added a=1', 'added b=1']);
  await bench.set('2');
  await bench.settle();
  assert.deepEqual(late.slice(2), ['updated a=2']);
  await bench.stop();
});

test('49, 50: removing a handler twice is harmless, and one that throws harms only itself', async () => {
  const bench = new InformerBench();
  const registration = bench.informer.addHandler(() => {
    throw new Error('broken handler');
  });
  await bench.create('a');
  await bench.start();
  assert.deepEqual(bench.takeChanges(), ['added a=1']);
  assert.equal(bench.problems.length, 1);
  registration.remove();
  registration.remove();
  await bench.set('2');
  await bench.settle();
  assert.equal(bench.problems.length, 1);
  await bench.stop();
});

test('53: a cached object cannot be changed, however deep', async () => {
  const bench = new InformerBench();
  await bench.create('a');
  await bench.start();
  const object = bench.informer.get(key) as { data: Record<string, string> } | undefined;
  assert.throws(() => {
    if (object !== undefined) object.data.value = '2';
  }, TypeError);
  await bench.stop();
});

test('parts that an update left alone are the same object as before', async () => {
  const bench = new InformerBench();
  await bench.create('a');
  await bench.start();
  const before = bench.informer.get(key);
  await bench.client.patch(configMaps, key, { type: 'merge', body: { metadata: { labels: { new: 'yes' } } } });
  await bench.settle();
  const after = bench.informer.get(key);
  assert.notEqual(after?.metadata.labels, before?.metadata.labels);
  assert.equal(after?.data, before?.data);
  await bench.stop();
});

test('54: a handler for an informer that is stopped is refused in plain words', async () => {
  const bench = new InformerBench();
  await bench.start();
  await bench.stop();
  assert.throws(() => bench.informer.addHandler(() => undefined), /the informer of configmaps is stopped/);
});

test('W1, 56, 57: a noted write is read at once, and the watch that brings it later tells nobody', async () => {
  const bench = new InformerBench();
  await bench.create('a');
  await bench.start();
  bench.takeChanges();
  bench.client.isWatchHeld = true;
  bench.informer.noteWrite(await bench.set('2'));
  bench.informer.noteWrite(await bench.create('b'));
  assert.deepEqual([bench.value(), bench.value('b')], ['2', '1']);
  assert.deepEqual(bench.takeChanges(), ['updated a=2', 'added b=1']);
  bench.client.release();
  await bench.settle();
  assert.deepEqual(bench.takeChanges(), []);
  await bench.stop();
});

test('W2, W3, 57, 58: a foreign change before our write is told with it, one after it is told by the watch', async () => {
  const bench = new InformerBench();
  await bench.create('a');
  await bench.start();
  bench.takeChanges();
  bench.client.isWatchHeld = true;
  await bench.client.patch(configMaps, key, { type: 'merge', body: { metadata: { labels: { foreign: 'yes' } } } });
  bench.informer.noteWrite(await bench.set('ours'));
  await bench.set('theirs');
  assert.deepEqual(bench.takeChanges(), ['updated a=ours']);
  assert.equal(bench.informer.get(key)?.metadata.labels?.foreign, 'yes');
  bench.client.release();
  await bench.settle();
  assert.deepEqual(bench.takeChanges(), ['updated a=theirs']);
  await bench.stop();
});

test('W2, 59: a write that changed nothing is told to nobody and hides nothing', async () => {
  const bench = new InformerBench();
  const created = await bench.create('a');
  await bench.start();
  bench.takeChanges();
  bench.informer.noteWrite(created);
  await bench.set('2');
  await bench.settle();
  assert.deepEqual(bench.takeChanges(), ['updated a=2']);
  await bench.stop();
});

test('W4, 60: a list that is older than a write does not undo it', async () => {
  const bench = new InformerBench();
  await bench.create('a');
  await bench.start();
  bench.takeChanges();
  bench.client.isWatchHeld = true;
  const stale = await bench.client.list(configMaps);
  bench.informer.noteWrite(await bench.set('2'));
  bench.informer.noteWrite(await bench.create('b'));
  bench.takeChanges();
  const list = bench.client.list.bind(bench.client);
  let lists = 0;
  bench.client.list = async (type, options) => {
    lists += 1;
    const fresh = await list(type, options);
    return lists === 1 ? ({ ...stale } as unknown as typeof fresh) : fresh;
  };
  bench.client.cutWatches(StatusError.of('Expired', 'too old'));
  await bench.settle();
  assert.equal(lists, 1);
  assert.deepEqual([bench.value(), bench.value('b')], ['2', '1']);
  bench.client.release();
  await bench.world.advance(5_000);
  assert.deepEqual([bench.value(), bench.value('b')], ['2', '1']);
  assert.deepEqual(bench.takeChanges(), []);
  await bench.stop();
});

test('W4, 60: the reply to a write that comes after the watch has seen the deletion brings no ghost', async () => {
  const bench = new InformerBench();
  await bench.create('a');
  await bench.start();
  const written = await bench.set('2');
  await bench.delete();
  await bench.settle();
  bench.informer.noteWrite(written);
  assert.equal(bench.value(), undefined);
  await bench.stop();
});

test('W5, 61: an object that we deleted shows as going until it is gone', async () => {
  const bench = new InformerBench();
  const created = await bench.create('a');
  await bench.start();
  bench.takeChanges();
  bench.client.isWatchHeld = true;
  await bench.client.patch(configMaps, key, { type: 'merge', body: { metadata: { labels: { late: 'yes' } } } });
  await bench.delete();
  bench.informer.noteDelete(key, created.metadata.uid ?? '');
  assert.deepEqual(bench.takeChanges(), ['updated a=1 going']);
  bench.client.release();
  await bench.settle();
  assert.deepEqual(bench.takeChanges(), ['updated a=1 going', 'deleted a=1']);
  assert.equal(bench.informer.get(key), undefined);
  await bench.create('a', 'again');
  await bench.settle();
  assert.deepEqual(bench.takeChanges(), ['added a=again']);
  await bench.stop();
});

test('W5, 61: a finalizer keeps it, and then what the server says of the deletion is shown', async () => {
  const bench = new InformerBench();
  const created = await bench.create('a');
  await bench.client.patch(configMaps, key, { type: 'merge', body: { metadata: { finalizers: ['x/y'] } } });
  await bench.start();
  await bench.delete();
  bench.informer.noteDelete(key, created.metadata.uid ?? '');
  await bench.settle();
  assert.equal(bench.informer.get(key)?.metadata.deletionTimestamp, '2026-01-01T00:01:00Z');
  await bench.stop();
});

test('W1, W2, W3, W4, 55: in any order of writes, replies and events nothing goes back, and all ends as on the server', async () => {
  const move = fc.oneof(
    fc.constant({ move: 'hold' as const }),
    fc.constant({ move: 'release' as const }),
    fc.constant({ move: 'cut' as const }),
    fc.constant({ move: 'forget' as const }),
    fc.record({ move: fc.constant('write' as const), name: fc.constantFrom('a', 'b'), isNoted: fc.boolean() }),
    fc.record({ move: fc.constant('delete' as const), name: fc.constantFrom('a', 'b'), isNoted: fc.boolean() }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(move, { maxLength: 30 }), async (moves) => {
      const bench = new InformerBench();
      const told = new Map<string, ConfigMap>();
      bench.informer.addHandler((change) => {
        const name = change.object.metadata.name ?? '';
        if (change.kind === 'deleted') assert(told.delete(name), `${name} was deleted and not there`);
        else {
          assert.equal(told.has(name), change.kind === 'updated', `${name} was ${change.kind}`);
          const before = Number(told.get(name)?.metadata.resourceVersion ?? 0);
          assert(Number(change.object.metadata.resourceVersion) >= before, `${name} went back`);
          told.set(name, change.object);
        }
      });
      await bench.start();
      let count = 0;
      for (const step of moves) {
        if (step.move === 'hold') bench.client.isWatchHeld = true;
        else if (step.move === 'release') bench.client.release();
        else if (step.move === 'cut') bench.client.cutWatches();
        else if (step.move === 'forget') bench.client.compact();
        else if (step.move === 'write') {
          count += 1;
          const isThere = (await bench.client.find(configMaps, { ...key, name: step.name })) !== undefined;
          const written = await (isThere
            ? bench.set(String(count), step.name)
            : bench.create(step.name, String(count)));
          if (step.isNoted) {
            bench.informer.noteWrite(written);
            assert.equal(bench.value(step.name), String(count), 'a write is read at once');
          }
        } else {
          const uid = bench.informer.get({ ...key, name: step.name })?.metadata.uid ?? '';
          await bench.delete(step.name);
          if (step.isNoted) bench.informer.noteDelete({ ...key, name: step.name }, uid);
        }
        await bench.settle();
      }
      bench.client.release();
      bench.client.cutWatches();
      await bench.world.advance(60_000);
      const server = (await bench.client.list(configMaps)).items.map(({ metadata }) => metadata.resourceVersion).sort();
      const held = [...bench.informer.list()].map(({ metadata }) => metadata.resourceVersion).sort();
      assert.deepEqual(held, server);
      assert.deepEqual([...told.values()].map(({ metadata }) => metadata.resourceVersion).sort(), server);
      await bench.stop();
    }),
    { numRuns: 200 },
  );
});
