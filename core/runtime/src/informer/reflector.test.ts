import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConnectionError } from '@castellan/client';
import { type ConfigMap, configMaps, StatusError } from '@castellan/machinery';
import { type SimulatedWorld, simulatedWorld } from '@castellan/world';
import { FakeCluster } from '../../test/fake-cluster.js';
import { runReflector } from './reflector.js';

/** A reflector over a simulated server, in simulated time, and what it handed over. */
class Bench {
  readonly world: SimulatedWorld = simulatedWorld(7);
  readonly client = new FakeCluster();
  readonly held = new Map<string, ConfigMap>();
  readonly problems: string[] = [];
  replaces = 0;
  isEnded = false;
  #ended: Promise<void> | undefined;
  readonly #stop = new AbortController();

  async seed(count: number): Promise<void> {
    for (let at = 0; at < count; at += 1) await this.create(`seed-${at}`);
  }

  create(name: string): Promise<ConfigMap> {
    return this.client.create(configMaps, { metadata: { namespace: 'default', name } });
  }

  async start(usesWatchList = false): Promise<void> {
    const { world, client } = this;
    const sink = {
      replace: (objects: readonly ConfigMap[]) => {
        this.replaces += 1;
        this.held.clear();
        for (const object of objects) this.held.set(object.metadata.name ?? '', object);
      },
      change: (object: ConfigMap) => this.held.set(object.metadata.name ?? '', object),
      remove: (object: ConfigMap) => this.held.delete(object.metadata.name ?? ''),
      progress: () => undefined,
      problem: (error: unknown) => this.problems.push(String(error)),
    };
    this.#ended = runReflector(
      { client, world, type: configMaps, selection: {}, usesWatchList, sink },
      this.#stop.signal,
    ).then(() => {
      this.isEnded = true;
    });
    await world.advance(0);
  }

  async stop(): Promise<void> {
    this.#stop.abort(new Error('stop'));
    await this.world.advance(0);
    assert(this.isEnded, 'the reflector has ended');
    await this.#ended;
    assert.deepEqual(this.client.openWatches, []);
    assert.equal(this.world.pendingTimers, 0);
  }

  /** Refuses requests that begin with `prefix`, `times` times. */
  refuse(prefix: string, error: Error, times = Number.POSITIVE_INFINITY): void {
    let left = times;
    this.client.intercept = (call) => {
      if (!call.startsWith(prefix) || left <= 0) return;
      left -= 1;
      throw error;
    };
  }

  /** The queries of lists or watches so far. */
  queries(kind: 'LIST' | 'WATCH'): readonly Record<string, unknown>[] {
    return this.client.requests(kind).map((call) => JSON.parse(call.slice(call.indexOf('{'))));
  }
}

const expired = StatusError.of('Expired', 'too old');
const tooLarge = StatusError.of('Timeout', 'Too large resource version: 9, current: 5', {
  causes: [{ reason: 'ResourceVersionTooLarge' }],
});
const refused = new ConnectionError({ failure: 'refused', request: 'GET /', server: 'https://here' });

test('R1, 27: lists, replaces what is held, and watches from the revision of the list', async () => {
  const bench = new Bench();
  await bench.seed(2);
  await bench.start();
  assert.deepEqual([...bench.held.keys()], ['seed-0', 'seed-1']);
  assert.equal(bench.queries('WATCH')[0]?.resourceVersion, '102');
  await bench.create('new');
  await bench.client.delete(configMaps, { namespace: 'default', name: 'seed-0' });
  await bench.world.advance(0);
  assert.deepEqual([...bench.held.keys()], ['seed-1', 'new']);
  await bench.stop();
});

test('R2, 28: when a watch ends it goes on from the last revision, and does not list', async () => {
  const bench = new Bench();
  await bench.start();
  await bench.create('a');
  await bench.world.advance(0);
  bench.client.cutWatches();
  await bench.world.advance(5_000);
  assert.equal(bench.replaces, 1);
  assert.deepEqual(
    bench.queries('WATCH').map((query) => query.resourceVersion),
    ['100', '101'],
  );
  await bench.stop();
});

test('R3, 29: a watch answered 410 leads to one list not older than what is held, then to one of the newest', async () => {
  const bench = new Bench();
  await bench.start();
  await bench.create('a');
  await bench.world.advance(0);
  bench.refuse('LIST', expired, 1);
  bench.client.cutWatches(expired);
  await bench.world.advance(0);
  assert.deepEqual(bench.queries('LIST'), [
    { resourceVersion: '0' },
    { resourceVersion: '101' },
    { resourceVersion: '', limit: 500 },
  ]);
  assert.deepEqual([...bench.held.keys()], ['a']);
  await bench.stop();
});

test('R4, R7, 30, 35: a page answered 410 leads to one list in one page; only the newest is read in pages', async () => {
  const bench = new Bench();
  await bench.seed(1_200);
  await bench.start();
  bench.client.intercept = (call) => {
    if (call.includes('"resourceVersion":"1300"') && call.startsWith('LIST')) throw expired;
    if (call.includes('"continue":"1000"')) throw expired;
  };
  bench.client.cutWatches(expired);
  await bench.world.advance(0);
  assert.deepEqual(bench.queries('LIST'), [
    { resourceVersion: '0' },
    { resourceVersion: '1300' },
    { limit: 500, resourceVersion: '' },
    { limit: 500, continue: '500' },
    { limit: 500, continue: '1000' },
    { resourceVersion: '' },
  ]);
  assert.equal(bench.held.size, 1_200);
  await bench.stop();
});

test('R5, 31: a revision that the server has not reached leads to a rest and a list of the newest', async () => {
  const bench = new Bench();
  await bench.start();
  bench.refuse('LIST', tooLarge, 1);
  bench.client.cutWatches(expired);
  await bench.world.advance(0);
  assert.equal(bench.client.requests('LIST').length, 2);
  await bench.world.advance(2_000);
  assert.deepEqual(bench.queries('LIST').at(-1), { resourceVersion: '', limit: 500 });
  assert.equal(bench.replaces, 2);
  await bench.stop();
});

test('R6, 32, 33: 429 and 5xx on a watch back off and go on from its revision; after 2 min of it there is a list', async () => {
  for (const error of [StatusError.of('TooManyRequests', 'slow'), StatusError.of('InternalError', 'broken')]) {
    const bench = new Bench();
    await bench.start();
    bench.refuse('WATCH', error);
    bench.client.cutWatches(error);
    await bench.world.advance(60_000);
    assert.equal(bench.replaces, 1);
    const tries = bench.client.requests('WATCH').length;
    assert.ok(tries >= 4 && tries <= 9, `${tries} tries in a minute`);
    await bench.world.advance(180_000);
    assert.ok(bench.replaces > 1);
    await bench.stop();
  }
});

test('R6, 34: refused connections back off with jitter, and the backoff begins anew after two healthy minutes', async () => {
  const bench = new Bench();
  bench.refuse('LIST', refused, 4);
  const atMs: number[] = [];
  const { intercept } = bench.client;
  bench.client.intercept = (call, options) => {
    atMs.push(bench.world.clock.monotonicNow());
    return intercept(call, options);
  };
  await bench.start();
  await bench.world.advance(60_000);
  const rests = atMs.slice(0, 5).flatMap((at, index) => (index === 0 ? [] : [at - (atMs[index - 1] ?? 0)]));
  for (const [index, restMs] of rests.entries()) {
    const leastMs = 800 * 2 ** index;
    assert.ok(restMs >= leastMs && restMs <= 2 * leastMs, `rest ${index} is ${restMs}`);
  }
  assert.equal(bench.replaces, 1);
  await bench.world.advance(130_000);
  const before = bench.world.clock.monotonicNow();
  bench.client.cutWatches(refused);
  await bench.world.step();
  assert.ok(bench.world.clock.monotonicNow() - before <= 1_600);
  await bench.stop();
});

test('R8, 36: a watch asks for a timeout between 5 and 10 minutes, not always the same', async () => {
  const bench = new Bench();
  await bench.start();
  for (let at = 0; at < 20; at += 1) {
    await bench.world.advance(2_000);
    bench.client.cutWatches();
    await bench.world.advance(0);
  }
  const seconds = bench.queries('WATCH').map((query) => Number(query.timeoutSeconds));
  assert.ok(Math.min(...seconds) >= 300 && Math.max(...seconds) < 600);
  assert.ok(new Set(seconds).size > 5);
  await bench.stop();
});

test('R9, 37: a watch that ends at once and brought nothing is a failure, and is not repeated in a loop', async () => {
  const bench = new Bench();
  await bench.start();
  for (let at = 0; at < 300; at += 1) {
    bench.client.cutWatches();
    await bench.world.advance(10);
  }
  const tries = bench.client.requests('WATCH').length;
  assert.ok(tries >= 2 && tries <= 3, `${tries} tries in 3 s`);
  await bench.stop();
});

test('R10, 38: an event of another kind or without a name is reported and left out', async () => {
  const bench = new Bench();
  await bench.start();
  await bench.client.create(configMaps, { kind: 'Secret', metadata: { namespace: 'default', name: 'odd' } });
  await bench.create('good');
  await bench.world.advance(0);
  assert.deepEqual([...bench.held.keys()], ['good']);
  assert.deepEqual(bench.problems, ['Error: a Secret in the watch of configmaps was left out']);
  await bench.stop();
});

test('R11, 39, 43: a watch-list is complete at its bookmark, honours changes before it, and is asked for once', async () => {
  const bench = new Bench();
  await bench.seed(3);
  await bench.start(true);
  assert.equal(bench.replaces, 1);
  assert.deepEqual([...bench.held.keys()], ['seed-0', 'seed-1', 'seed-2']);
  await bench.create('later');
  await bench.world.advance(5_000);
  bench.client.cutWatches();
  await bench.world.advance(5_000);
  assert.deepEqual([...bench.held.keys()].at(-1), 'later');
  assert.deepEqual(
    bench.queries('WATCH').map((query) => [query.sendInitialEvents, query.resourceVersion]),
    [
      [true, undefined],
      [undefined, '104'],
    ],
  );
  assert.deepEqual(bench.client.requests('LIST'), []);
  await bench.stop();
});

test('R12, 39: a server that refuses a watch-list is listed, for good', async () => {
  const bench = new Bench();
  await bench.seed(1);
  bench.client.intercept = (call) => {
    if (call.includes('sendInitialEvents')) throw StatusError.of('Invalid', 'sendInitialEvents is forbidden');
  };
  await bench.start(true);
  assert.equal(bench.held.size, 1);
  bench.client.cutWatches(expired);
  await bench.world.advance(0);
  assert.equal(bench.client.requests('LIST').length, 2);
  await bench.stop();
});

test('R12, 40: a server that never ends the initial events is listed after 30 s; a bookmark without the mark does not count', async () => {
  const bench = new Bench();
  await bench.seed(1);
  const watch = bench.client.watch.bind(bench.client);
  bench.client.watch = async function* (type, options) {
    const { sendInitialEvents, ...rest } = options;
    if (sendInitialEvents === true) yield { type: 'BOOKMARK', object: { metadata: { resourceVersion: '101' } } };
    yield* watch(type, sendInitialEvents === true ? { ...rest, resourceVersion: '101' } : rest);
  };
  await bench.start(true);
  await bench.world.advance(29_000);
  assert.equal(bench.replaces, 0);
  await bench.world.advance(2_000);
  assert.equal(bench.replaces, 1);
  assert.equal(bench.held.size, 1);
  await bench.stop();
});

test('R11, 39: a watch-list that is cut before it is complete starts anew, and one that is complete goes on', async () => {
  const bench = new Bench();
  await bench.seed(2);
  let cuts = 1;
  const watch = bench.client.watch.bind(bench.client);
  bench.client.watch = async function* (type, options) {
    for await (const event of watch(type, options)) {
      yield event;
      if (cuts > 0) {
        cuts -= 1;
        throw refused;
      }
    }
  };
  await bench.start(true);
  assert.equal(bench.replaces, 0);
  await bench.world.advance(2_000);
  assert.equal(bench.replaces, 1);
  assert.equal(bench.held.size, 2);
  await bench.stop();
});

test('R13, 42: stopping ends a list that hangs, a silent watch and a rest at once', async () => {
  const hanging = new Bench();
  hanging.client.intercept = (_call, options) => {
    const { signal } = options as { signal: AbortSignal };
    return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  };
  await hanging.start();
  await hanging.stop();
  const watching = new Bench();
  await watching.start();
  assert.equal(watching.client.openWatches.length, 1);
  await watching.stop();
  const resting = new Bench();
  resting.refuse('LIST', refused);
  await resting.start();
  assert.equal(resting.world.pendingTimers, 1);
  await resting.stop();
});
