import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ConfigMap } from '@castellan/machinery';
import type { Change } from '../src/index.js';
import { InformerBench, textOf } from './informer-bench.js';

/** A handler that is done with each change when it is told to be. */
class SlowHandler {
  readonly seen: string[] = [];
  readonly #waiting: (() => void)[] = [];

  readonly handle = (change: Change<ConfigMap>): Promise<void> => {
    const text = textOf(change);
    this.seen.push(change.kind === 'updated' ? `${text} from ${change.previous.data?.value}` : text);
    return new Promise((resolve) => this.#waiting.push(resolve));
  };

  async finish(bench: InformerBench): Promise<string[]> {
    this.#waiting.shift()?.();
    await bench.settle();
    return this.seen.splice(0);
  }
}

test('H1, 48: what happens to an object while a handler is busy becomes one change, in the order of the first of them', async () => {
  const bench = new InformerBench();
  const slow = new SlowHandler();
  bench.informer.addHandler(slow.handle);
  await bench.create('a');
  await bench.create('b');
  await bench.start();
  await bench.set('2', 'b');
  await bench.set('2', 'a');
  await bench.set('3', 'a');
  await bench.create('c');
  await bench.delete('c');
  await bench.settle();
  assert.deepEqual(slow.seen.splice(0), ['added a=1']);
  assert.deepEqual(await slow.finish(bench), ['added b=2']);
  assert.deepEqual(await slow.finish(bench), ['updated a=3 from 1']);
  assert.deepEqual(await slow.finish(bench), []);
  await bench.delete('a');
  await bench.create('a', 'new');
  await bench.settle();
  await bench.set('newer', 'a');
  await bench.settle();
  assert.deepEqual(slow.seen.splice(0), ['deleted a=3']);
  assert.deepEqual(await slow.finish(bench), ['added a=newer']);
  await bench.stop();
});

test('H2, 50: a handler that is slow, throws or rejects holds up nobody else and is reported', async () => {
  const bench = new InformerBench();
  const slow = new SlowHandler();
  bench.informer.addHandler(slow.handle);
  bench.informer.addHandler(() => Promise.reject(new Error('rejects')));
  bench.informer.addHandler(() => {
    throw new Error('throws');
  });
  const last: string[] = [];
  bench.informer.addHandler((change) => last.push(textOf(change)));
  await bench.create('a');
  await bench.start();
  await bench.set('2');
  await bench.settle();
  assert.deepEqual(slow.seen, ['added a=1']);
  assert.deepEqual(last, ['added a=1', 'updated a=2']);
  assert.deepEqual(bench.problems.map(String).sort(), [
    'Error: rejects',
    'Error: rejects',
    'Error: throws',
    'Error: throws',
  ]);
  await bench.stop();
});

test('H3, 51: a handler is synced when it is done with the first list, not when that was read', async () => {
  const bench = new InformerBench();
  const slow = new SlowHandler();
  const registration = bench.informer.addHandler(slow.handle);
  const quick = bench.informer.addHandler(() => undefined);
  await bench.create('a');
  await bench.create('b');
  await bench.start();
  await bench.informer.whenSynced();
  assert.deepEqual([quick.isSynced, registration.isSynced], [true, false]);
  await slow.finish(bench);
  assert.equal(registration.isSynced, false);
  await slow.finish(bench);
  await registration.whenSynced();
  assert.equal(registration.isSynced, true);
  const late = bench.informer.addHandler(() => undefined);
  assert.equal(late.isSynced, true);
  await bench.stop();
});

test('H3, 51: a handler that is taken away, or whose informer stops, before the first list is never synced', async () => {
  const bench = new InformerBench();
  const slow = new SlowHandler();
  const removed = bench.informer.addHandler(() => undefined);
  const stopped = bench.informer.addHandler(slow.handle);
  removed.remove();
  await assert.rejects(removed.whenSynced(), /the handler was removed/);
  await bench.create('a');
  await bench.start();
  await bench.stop();
  await assert.rejects(stopped.whenSynced(), /the informer of configmaps is stopped/);
});

test('H4, 52: all that is held is told again to the handlers that asked for it, and to no other', async () => {
  const bench = new InformerBench();
  await bench.create('a');
  await bench.create('b');
  await bench.start();
  const told: string[] = [];
  const registration = bench.informer.addHandler(
    (change) => {
      const isSame = change.kind === 'updated' && change.previous === change.object;
      told.push(isSame ? `again ${change.object.metadata.name}` : textOf(change));
    },
    { resyncMs: 60_000 },
  );
  bench.takeChanges();
  await bench.world.advance(130_000);
  assert.deepEqual(told, ['added a=1', 'added b=1', 'again a', 'again b', 'again a', 'again b']);
  assert.deepEqual(bench.takeChanges(), []);
  registration.remove();
  await bench.world.advance(130_000);
  assert.equal(told.length, 6);
  await bench.stop();
  assert.equal(bench.world.pendingTimers, 0);
});
