import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ConfigMap, configMaps, pods, StatusError, secrets } from '@castellan/machinery';
import { type SimulatedWorld, simulatedWorld } from '@castellan/world';
import {
  type Controller,
  createLog,
  createManager,
  type Manager,
  type ReconcileContext,
  type ReconcileResult,
  TerminalError,
  watchSource,
} from '../src/index.js';
import { FakeCluster } from './fake-cluster.js';

const a = { namespace: 'default', name: 'a' };

/** One controller of config maps under a manager, in simulated time. */
class Bench {
  readonly world: SimulatedWorld = simulatedWorld(5);
  readonly client = new FakeCluster();
  readonly runs: string[] = [];
  readonly logged: Record<string, unknown>[] = [];
  readonly errors: unknown[] = [];
  readonly manager: Manager;
  readonly #stop = new AbortController();
  #ended: Promise<void> = Promise.resolve();

  constructor(
    reconcile: (name: string, context: ReconcileContext, bench: Bench) => Promise<ReconcileResult>,
    options: Partial<Controller<ConfigMap>> = {},
  ) {
    const { world, client } = this;
    this.manager = createManager({
      wholeCache: true,
      client,
      world,
      log: createLog({ write: (line) => this.logged.push(JSON.parse(line)), world, level: 'debug' }),
      onError: (error) => this.errors.push(error),
      controllers: [
        {
          name: 'test',
          for: configMaps,
          reconcile: (key, context) => {
            this.runs.push(key.name);
            return reconcile(key.name, context, this);
          },
          ...options,
        },
      ],
    });
  }

  async create(...names: string[]): Promise<void> {
    for (const name of names) await this.client.create(configMaps, { metadata: { namespace: 'default', name } });
  }

  async start(): Promise<void> {
    this.#ended = this.manager.run(this.#stop.signal);
    this.#ended.catch(() => undefined);
    await this.world.advance(0);
  }

  async stop(limitMs = 60_000): Promise<void> {
    this.#stop.abort(new Error('stop'));
    await this.world.run(this.#ended, limitMs);
    assert.deepEqual(this.client.openWatches, []);
    assert.equal(this.world.pendingTimers, 0, '77: no timer is left');
  }

  get status() {
    const status = this.manager.status().controllers[0];
    assert(status !== undefined);
    return status;
  }

  takeRuns(): string[] {
    return this.runs.splice(0);
  }
}

const nothing = async (): Promise<undefined> => undefined;

test('62: nothing is reconciled before the first lists of all sources are handled', async () => {
  const bench = new Bench(nothing, { owns: [pods], watches: [watchSource({ type: secrets, map: () => [] })] });
  await bench.create('a');
  bench.client.intercept = (call) => {
    if (call.startsWith('WATCH pods')) throw StatusError.of('ServiceUnavailable', 'not yet');
  };
  await bench.start();
  await bench.world.advance(10_000);
  assert.deepEqual(bench.runs, []);
  assert.equal(bench.manager.status().isReady, false);
  bench.client.intercept = () => undefined;
  await bench.world.advance(30_000);
  assert.deepEqual(bench.runs, ['a']);
  assert.equal(bench.manager.status().isReady, true);
  await bench.stop();
});

test('24: keys that are asked for before the caches are complete are merged into one run', async () => {
  const bench = new Bench(nothing, { watches: [watchSource({ type: secrets, map: () => [a] })] });
  await bench.create('a');
  for (const name of ['x', 'y', 'z']) await bench.client.create(secrets, { metadata: { namespace: 'default', name } });
  await bench.start();
  assert.deepEqual(bench.runs, ['a']);
  await bench.stop();
});

test('64: a reconcile that throws is counted, reported and tried again with growing waits', async () => {
  const atMs: number[] = [];
  const bench = new Bench(async (_name, _context, { world }) => {
    atMs.push(world.clock.monotonicNow());
    if (atMs.length <= 5) throw new Error(`failure ${atMs.length}`);
    return undefined;
  });
  await bench.create('a');
  await bench.start();
  await bench.world.advance(60_000);
  assert.deepEqual(atMs, [0, 5, 15, 35, 75, 155]);
  assert.equal(bench.status.failures, 5);
  assert.equal(bench.errors.length, 5);
  const [key] = bench.status.keys;
  assert.deepEqual([key?.outcome, key?.failures, key?.trigger], ['done', 0, 'retry 5 after: failure 5']);
  await bench.stop();
});

test('64: the wait between two tries never grows beyond 30 s', async () => {
  const atMs: number[] = [];
  const bench = new Bench(async (_name, _context, { world }) => {
    atMs.push(world.clock.monotonicNow());
    throw new Error('always');
  });
  await bench.create('a');
  await bench.start();
  await bench.world.advance(300_000);
  const waits = atMs.slice(1).map((at, index) => at - (atMs[index] ?? 0));
  assert.ok(waits.every((wait) => wait <= 30_000));
  assert.ok(Math.min(...waits.slice(14)) >= 15_000, 'and not much less than that: half of it at most is by chance');
  assert.equal(new Set(waits.slice(14)).size, waits.length - 14, 'no two of them alike');
  await bench.stop();
});

test('65: a terminal error is not tried again until something changes', async () => {
  const bench = new Bench(async () => {
    throw new TerminalError('the spec makes no sense');
  });
  await bench.create('a');
  await bench.start();
  await bench.world.advance(3_600_000);
  assert.deepEqual(bench.takeRuns(), ['a']);
  assert.equal(bench.status.keys[0]?.outcome, 'terminal');
  await bench.client.patch(configMaps, a, { type: 'merge', body: { data: { x: '1' } } });
  await bench.world.advance(0);
  assert.deepEqual(bench.takeRuns(), ['a']);
  await bench.stop();
});

test('67: a reconcile that asks to look again runs after that time, and its earlier failures are forgotten', async () => {
  const bench = new Bench(async (_name, _context, { runs }) => {
    if (runs.length < 3) throw new Error('not yet');
    return { requeueAfterMs: 5_000 };
  });
  await bench.create('a');
  await bench.start();
  await bench.world.advance(100);
  assert.equal(bench.takeRuns().length, 3);
  await bench.world.advance(4_899);
  assert.equal(bench.runs.length, 0);
  assert.equal(bench.status.delayed, 1);
  bench.runs.push('', '');
  await bench.world.advance(200);
  assert.equal(bench.status.keys[0]?.trigger, '5000 ms after the last time');
  assert.equal(bench.status.keys[0]?.failures, 0);
  await bench.stop();
});

test('66: a throw is tried again after its backoff, whatever time an earlier run asked for', async () => {
  const atMs: number[] = [];
  const bench = new Bench(async (_name, _context, { world }) => {
    atMs.push(world.clock.monotonicNow());
    if (atMs.length === 2) throw new Error('not now');
    return { requeueAfterMs: 50_000 };
  });
  await bench.create('a');
  await bench.start();
  await bench.world.advance(60_000);
  assert.deepEqual(atMs, [0, 50_000, 50_005]);
  await bench.stop();
});

test('68: a key that failed is tried again at the priority that it had', async () => {
  const order: string[] = [];
  const bench = new Bench(
    async (name, { world }) => {
      order.push(name);
      await world.clock.sleep(20);
      if (name === 'urgent' && order.length < 3) throw new Error('not yet');
      return undefined;
    },
    { watches: [watchSource({ type: secrets, priority: 10, map: () => [{ namespace: 'default', name: 'urgent' }] })] },
  );
  await bench.create('a', 'b', 'c', 'd');
  await bench.client.create(secrets, { metadata: { namespace: 'default', name: 's' } });
  await bench.start();
  await bench.world.advance(1_000);
  assert.deepEqual(order, ['urgent', 'a', 'urgent', 'b', 'c', 'd']);
  await bench.stop();
});

test('69: a reconcile is told of its deadline, counts as failed, and its key is not given out until it has ended', async () => {
  const bench = new Bench(
    async (_name, { world, signal }, { runs }) => {
      if (runs.length > 1) return undefined;
      assert.equal(signal.aborted, false);
      await world.clock.sleep(5_000);
      assert.equal(signal.aborted, true);
      return undefined;
    },
    { deadlineMs: 1_000 },
  );
  await bench.create('a');
  await bench.start();
  await bench.world.advance(4_999);
  assert.deepEqual([bench.runs.length, bench.status.running], [1, 1]);
  await bench.world.advance(100);
  assert.equal(bench.runs.length, 2);
  assert.deepEqual([bench.status.failures, bench.status.deadlinesMissed], [1, 1]);
  assert.match(String(bench.errors[0]), /the reconcile of default\/a by test/);
  await bench.stop();
});

test('69: requests of a reconcile end at its deadline without being told', async () => {
  const bench = new Bench(
    async (_name, { client }, { runs }) => {
      if (runs.length === 1) await client.get(secrets, a);
      return undefined;
    },
    { deadlineMs: 1_000 },
  );
  await bench.create('a');
  bench.client.intercept = (call, options) => {
    if (!call.startsWith('GET')) return;
    const { signal } = options as { signal: AbortSignal };
    return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  };
  await bench.start();
  await bench.world.advance(1_100);
  assert.deepEqual([bench.runs.length, bench.status.deadlinesMissed], [2, 1]);
  await bench.stop();
});

test('21, 25: as many keys as told are reconciled at once, and one that hangs holds up no other', async () => {
  let running = 0;
  let most = 0;
  const bench = new Bench(
    async (name, { world }) => {
      running += 1;
      most = Math.max(most, running);
      await world.clock.sleep(name === 'slow' ? 50_000 : 100);
      running -= 1;
      return undefined;
    },
    { concurrency: 3 },
  );
  await bench.create('slow', ...Array.from({ length: 20 }, (_, at) => `quick-${at}`));
  await bench.start();
  await bench.world.advance(1_000);
  assert.equal(most, 3);
  assert.deepEqual([bench.status.waiting, bench.status.running], [0, 1]);
  await bench.world.advance(50_000);
  await bench.stop();
});

test('an owned object that changes, is taken away or goes is a reason to reconcile its owner', async () => {
  const bench = new Bench(nothing, { owns: [pods] });
  await bench.create('a', 'b');
  await bench.start();
  bench.takeRuns();
  const owner = (name: string) => [
    { apiVersion: 'v1', kind: 'ConfigMap', name, uid: `uid-of-${name}`, controller: true },
  ];
  await bench.client.create(pods, { metadata: { namespace: 'default', name: 'pod', ownerReferences: owner('a') } });
  await bench.world.advance(0);
  assert.deepEqual(bench.takeRuns(), ['a']);
  const moved = { type: 'merge', body: { metadata: { ownerReferences: owner('b') } } } as const;
  await bench.client.patch(pods, { namespace: 'default', name: 'pod' }, moved);
  await bench.world.advance(0);
  assert.deepEqual(bench.takeRuns(), ['a', 'b']);
  await bench.client.delete(pods, { namespace: 'default', name: 'pod' });
  await bench.world.advance(0);
  assert.deepEqual(bench.takeRuns(), ['b']);
  assert.equal(bench.status.keys.find(({ key }) => key === 'default/b')?.trigger, 'pods default/pod was deleted');
  const stranger = [{ apiVersion: 'apps/v1', kind: 'ConfigMap', name: 'a', uid: 'x', controller: true }];
  await bench.client.create(pods, { metadata: { namespace: 'default', name: 'other', ownerReferences: stranger } });
  await bench.world.advance(0);
  assert.deepEqual(bench.takeRuns(), [], 'a kind of another group is another kind');
  await bench.stop();
});

test('W1, 56: a reconcile reads from the cache what it has just written, with the watch held back', async () => {
  const seen: (string | undefined)[] = [];
  const bench = new Bench(
    async (name, { client, cache }, { runs }) => {
      if (runs.length > 1) return undefined;
      const key = { namespace: 'default', name };
      const read = (): string | undefined => cache.get(secrets, key)?.type;
      const created = await client.create(secrets, { metadata: key, type: 'one' });
      seen.push(read());
      await client.patch(secrets, key, { type: 'merge', body: { type: 'two' } });
      seen.push(read());
      await client.update(secrets, { ...created, metadata: { ...key }, type: 'three' }, { dryRun: true });
      await client.delete(secrets, key);
      seen.push(cache.get(secrets, key)?.metadata.deletionTimestamp === undefined ? 'there' : 'going');
      return undefined;
    },
    { owns: [secrets] },
  );
  await bench.create('a');
  bench.client.isWatchHeld = true;
  await bench.start();
  assert.deepEqual(seen, ['one', 'two', 'going']);
  bench.client.release();
  await bench.world.advance(0);
  assert.deepEqual(bench.manager.cache.list(secrets), []);
  await bench.stop();
});

test('71: every line of a reconcile names the controller, the key and a number of its own', async () => {
  const bench = new Bench(async (_name, { log }) => {
    log.info('hello');
    return undefined;
  });
  await bench.create('a', 'b');
  await bench.start();
  const lines = bench.logged.filter(({ message }) => message === 'hello');
  assert.deepEqual(
    lines.map(({ controller, key, reconcile }) => [controller, key, reconcile]),
    [
      ['test', 'default/a', 1],
      ['test', 'default/b', 2],
    ],
  );
  await bench.stop();
});

test('a change that concerns a key in several ways is one run of it', async () => {
  const bench = new Bench(nothing, { watches: [watchSource({ type: configMaps, map: () => [a, a] })] });
  await bench.create('a');
  await bench.start();
  bench.takeRuns();
  await bench.client.patch(configMaps, a, { type: 'merge', body: { data: { x: '1' } } });
  await bench.world.advance(0);
  assert.deepEqual(bench.takeRuns(), ['a']);
  await bench.stop();
});

test('what is remembered of a key goes when its object has gone', async () => {
  const bench = new Bench(nothing);
  await bench.create('a');
  await bench.start();
  assert.equal(bench.status.keys.length, 1);
  await bench.client.delete(configMaps, a);
  await bench.world.advance(0);
  assert.deepEqual(bench.takeRuns(), ['a', 'a']);
  assert.equal(bench.status.keys.length, 0);
  await bench.stop();
});

test('a conflict is retried without a warning, because the retry reads what the other wrote', async () => {
  const bench = new Bench(async (_name, { client }, { runs }) => {
    if (runs.length > 1) return undefined;
    await client.update(configMaps, { metadata: { ...a, resourceVersion: '1' } });
    return undefined;
  });
  await bench.create('a');
  await bench.start();
  await bench.world.advance(100);
  assert.equal(bench.runs.length, 2);
  assert.deepEqual(
    bench.logged.filter(({ level }) => level === 'warn' || level === 'error'),
    [],
  );
  await bench.stop();
});

for (const [what, result, message] of [
  ['nothing sensible', 'done', /the reconcile of controller test returned 'done': return undefined, or/],
  ['an impossible time', { requeueAfterMs: Number.NaN }, /returned \{ requeueAfterMs: NaN \}: return undefined, or/],
  ['a negative time', { requeueAfterMs: -1 }, /returned \{ requeueAfterMs: -1 \}: return undefined, or/],
] as const) {
  test(`B6: a reconcile that returns ${what} is told what it may return, and not tried again`, async () => {
    const bench = new Bench(async () => result as ReconcileResult);
    await bench.create('a');
    await bench.start();
    await bench.world.advance(60_000);
    assert.equal(bench.errors.length, 1);
    assert.match(String(bench.errors[0]), message);
    await bench.stop();
  });
}

test('reading a kind that nobody watches is refused in plain words', async () => {
  const bench = new Bench(nothing);
  assert.throws(
    () => bench.manager.cache.get(pods, a),
    /no controller of this manager watches pods\/v1.*configmaps\/v1/,
  );
  await bench.start();
  await bench.stop();
});
