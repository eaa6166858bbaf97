import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pods } from '@castellan/machinery';
import { type EventFate, type RequestFate, type TestCluster, testCluster } from '../src/index.js';
import { greeterUnderFaults } from './greeter-scenario.js';
import { greeter, greeterOperator, greeters, isReady } from './sample-operator.js';

async function withGreeter(seed: number, story: (cluster: TestCluster) => Promise<void>): Promise<string> {
  const cluster = await testCluster({ clock: 'virtual', seed, operators: [() => greeterOperator()] });
  try {
    await story(cluster);
    return cluster.historyText();
  } finally {
    await cluster.stop();
  }
}

async function settles(cluster: TestCluster, count: number): Promise<void> {
  await cluster.runUntil(
    `${count} pods that are ready and counted`,
    () =>
      cluster.state.list(pods).length === count &&
      cluster.state.list(pods).every(isReady) &&
      cluster.state.get(greeters, { namespace: 'default', name: 'hello' })?.status?.ready === count,
    180_000,
  );
}

const fates: readonly RequestFate[] = [
  { kind: 'answer', code: 409 },
  { kind: 'answer', code: 410 },
  { kind: 'answer', code: 429 },
  { kind: 'answer', code: 500 },
  { kind: 'answer', code: 503 },
  { kind: 'lost', isCarriedOut: true },
  { kind: 'lost', isCarriedOut: false },
  { kind: 'slow', byMs: 5_000 },
  { kind: 'crash' },
];

for (const fate of fates) {
  test(`T5 a write that meets ${JSON.stringify(fate)} meets it once, and the operator settles`, async () => {
    await withGreeter(11, async (cluster) => {
      cluster.faults.request({ process: 'greeter', on: 'write', path: /\/pods/, after: 1, fate });
      await cluster.apply([greeter({ pods: 3, text: 'hello' })]);
      await settles(cluster, 3);
      assert.equal(cluster.history().filter(({ what }) => what === 'fault').length, 1);
    });
  });
}

const eventFates: readonly EventFate[] = [
  { kind: 'late', by: 'one' },
  { kind: 'late', by: 'many', forMs: 5_000 },
  { kind: 'cut' },
  { kind: 'missed', forMs: 2_000 },
];

for (const fate of eventFates) {
  test(`T6 an event that meets ${JSON.stringify(fate)} is made up for, and the operator settles`, async () => {
    await withGreeter(12, async (cluster) => {
      cluster.faults.event({ process: 'greeter', path: /\/pods/, after: 1, fate });
      await cluster.apply([greeter({ pods: 3, text: 'hello' })]);
      await settles(cluster, 3);
      assert.equal(cluster.history().filter(({ what, text }) => what === 'fault' && text.includes('/pods')).length, 1);
    });
  });
}

test('T7 a process that is killed does nothing more, and its next life knows nothing of it', async () => {
  const lives: string[] = [];
  const create = ({ life }: { readonly life: string }) => {
    lives.push(life);
    return greeterOperator();
  };
  const cluster = await testCluster({ clock: 'virtual', operators: [{ name: 'greeter', create }] });
  try {
    cluster.faults.crash('greeter', 10_000);
    await cluster.apply([greeter({ pods: 1, text: 'hello' })]);
    await cluster.advance(9_000);
    assert.deepEqual(cluster.state.list(pods), []);
    await settles(cluster, 1);
    assert.deepEqual(lives, ['installer/1', 'greeter/1', 'greeter/2']);
  } finally {
    await cluster.stop();
  }
});

test('T8 a process that is cut off hears and does nothing until it is connected again', async () => {
  await withGreeter(13, async (cluster) => {
    const heal = cluster.faults.partition('greeter');
    await cluster.apply([greeter({ pods: 2, text: 'hello' })]);
    await cluster.advance(60_000);
    assert.deepEqual(cluster.state.list(pods), []);
    heal();
    await settles(cluster, 2);
  });
});

test('T9 an API server that is behind gives old lists and watches, and its fresh reads are fresh', async () => {
  const seen: number[] = [];
  const operator = () =>
    greeterOperator(async (key, { cache, client, world }) => {
      const cached = cache.get(greeters, key)?.spec.pods;
      const fresh = await client.get(greeters, key);
      if (cached !== fresh.spec.pods) seen.push(world.clock.monotonicNow());
      return { requeueAfterMs: 500 };
    });
  const cluster = await testCluster({ clock: 'virtual', operators: [operator] });
  try {
    await cluster.apply([greeter({ pods: 1, text: 'hello' })]);
    const end = cluster.faults.lag('greeter', 5_000);
    await cluster.advance(10_000);
    seen.length = 0;
    const changedMs = cluster.world.clock.monotonicNow();
    await cluster.apply([greeter({ pods: 2, text: 'hello' })]);
    await cluster.advance(20_000);
    end();
    assert.ok(seen.length > 0, 'the cache never lagged');
    assert.ok(
      seen.every((atMs) => atMs < changedMs + 11_000),
      'the cache lagged for longer than it may',
    );
  } finally {
    await cluster.stop();
  }
});

test('T10 of two processes that elect one works, and the other takes over when that is killed', async () => {
  const operator = { name: 'greeter', create: () => greeterOperator(), replicas: 2, elects: true };
  const cluster = await testCluster({ clock: 'virtual', operators: [operator] });
  const isOurs = (party: string) => party.startsWith('greeter-');
  const writers = () =>
    cluster.processes.filter(({ party, writes }) => isOurs(party) && writes.some((write) => write.includes('/pods')));
  try {
    await cluster.apply([greeter({ pods: 1, text: 'hello' })]);
    await settles(cluster, 1);
    const [first] = writers();
    assert.equal(writers().length, 1);
    assert.ok(first !== undefined);
    cluster.faults.crash(first.party, 600_000);
    await cluster.apply([greeter({ pods: 2, text: 'hello' })]);
    await settles(cluster, 2);
    assert.deepEqual(
      writers()
        .map(({ party }) => party)
        .filter((party) => party !== first.party).length,
      1,
    );
  } finally {
    await cluster.stop();
  }
});

test('T11 the wall clock of a process jumps, and its timers do not', async () => {
  const cluster = await testCluster({ clock: 'virtual', nodes: 0, operators: [() => greeterOperator()] });
  try {
    const [greeterProcess] = cluster.processes.filter(({ party }) => party === 'greeter');
    const behindMs = () => cluster.world.clock.now() - (greeterProcess?.world.clock.now() ?? 0);
    assert.equal(behindMs(), 0);
    cluster.faults.jumpClock('greeter', -60_000);
    assert.equal(behindMs(), 60_000);
    let firedMs: number | undefined;
    greeterProcess?.world.clock.after(1_000, () => {
      firedMs = cluster.world.clock.monotonicNow();
    });
    const setMs = cluster.world.clock.monotonicNow();
    await cluster.advance(2_000);
    assert.equal(firedMs, setMs + 1_000);
  } finally {
    await cluster.stop();
  }
});

test('T12 drawn faults follow from the seed, end in time, and a sound operator settles after them', async () => {
  const story = async (seed: number) => {
    const cluster = await greeterUnderFaults(seed, `seed ${seed}`);
    await cluster.stop();
    return cluster.historyText();
  };
  for (let seed = 101; seed < 106; seed++) await story(seed);
  assert.equal(await story(100), await story(100));
});

test('a fault of a process that is not there is refused', async () => {
  await withGreeter(1, async (cluster) => {
    assert.throws(() => cluster.faults.crash('nobody'), { message: /no process is named nobody; next: name one of/ });
  });
});
