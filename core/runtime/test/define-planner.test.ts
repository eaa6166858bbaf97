import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type Condition,
  type ConfigMap,
  configMaps,
  isConditionTrue,
  type Pod,
  pods,
  StatusError,
} from '@castellan/machinery';
import { simulatedWorld } from '@castellan/world';
import {
  blocked,
  channelSource,
  createLog,
  createManager,
  type DefinedPlanner,
  definePlanner,
  generationChanged,
  index,
  NotNowError,
  type PlannerModel,
  settled,
  step,
  wait,
} from '../src/index.js';
import { FakeCluster } from './fake-cluster.js';

/** A config map that asks for pods and, so that the test needs no kind of its own, has a status. */
type Pool = ConfigMap & {
  readonly status?: { readonly observedGeneration?: number; readonly conditions?: readonly Condition[] };
};
const pools = configMaps as typeof configMaps & { readonly objectType?: Pool };

interface Observation {
  readonly made: number;
  readonly ready: number;
}
type Step = { readonly kind: 'add' | 'remove'; readonly index: number };
type PoolPlanner = DefinedPlanner<Pool, number, Observation, Step, Observation>;

const model: PlannerModel<number, Observation, Observation, Step> = {
  desires: (bound) => Array.from({ length: bound + 1 }, (_, size) => size),
  starts: (bound) => Array.from({ length: bound + 1 }, (_, made) => ({ made, ready: 0 })),
  isGoal: ({ made, ready }, size) => made === size && ready === size,
  assume: (observation) => observation,
  observe: (state) => state,
  apply: ({ made, ready }, { kind, index }) => {
    if (kind === 'add') return [{ made: Math.max(made, index + 1), ready }];
    return [{ made: Math.min(made, index), ready: Math.min(ready, index) }];
  },
  progress: ({ made, ready }) =>
    ready < made ? [{ name: 'a pod becomes ready', state: { made, ready: ready + 1 } }] : [],
  faults: ({ made, ready }) => (ready > 0 ? [{ name: 'a pod fails', state: { made, ready: ready - 1 } }] : []),
  fingerprint: (state, pending) => JSON.stringify([state, pending]),
};

function definePool(options: { readonly mostAtOnce?: number; readonly refusals?: Error[] } = {}): PoolPlanner {
  const { mostAtOnce = 9, refusals = [] } = options;
  return definePlanner<Pool, number, Observation, Step, Observation, Observation & { readonly found: readonly Pod[] }>({
    name: 'pool',
    for: pools,
    owns: [pods],
    desired: ({ data }) => Number(data?.size),
    async observe({ metadata }, { cache }) {
      const found = cache.ownedBy(pods, metadata.uid ?? '');
      const ready = found.filter(({ status }) => isConditionTrue(status?.conditions, 'Ready')).length;
      return { made: found.length, ready, found };
    },
    plan(size, { made, ready }) {
      if (size > 9) return blocked(`${size} pods are asked for`, 'ask for at most 9');
      if (made > size) return step({ kind: 'remove', index: made - 1 }, `${made} pods, ${size} wanted`);
      if (made - ready >= mostAtOnce) return wait(`${made - ready} pods are starting`, 1000);
      if (made < size) return step({ kind: 'add', index: made }, `${made} pods, ${size} wanted`);
      return ready < size ? wait(`${ready} of ${size} pods are ready`, 60_000) : settled(`${size} pods are ready`);
    },
    async act({ kind, index }, { object, seen, client }) {
      const refusal = refusals.shift();
      if (refusal !== undefined) throw refusal;
      const { name, uid = '' } = object.metadata;
      const key = { namespace: 'default', name: `${name}-${index}` };
      assert.equal(
        seen.found.some(({ metadata }) => metadata.name === key.name),
        kind === 'remove',
      );
      const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: name ?? '', uid, controller: true };
      if (kind === 'remove') await client.delete(pods, key);
      else await client.create(pods, { metadata: { ...key, ownerReferences: [owner] } });
    },
    describeStep: ({ kind, index }) => `${kind} pod ${index}`,
    model,
    invariants: [
      {
        name: 'never more than ten pods',
        violation: ({ after }) => (after.made > 10 ? `${after.made} pods` : undefined),
      },
    ],
  });
}

test('P1: a forecast comes from the planner and its model, from nothing and from what was observed', () => {
  const pool = definePool({ mostAtOnce: 1 });
  const fromNothing = pool.forecast(2);
  assert.deepEqual(
    fromNothing.entries.map(({ number, step: { kind, index }, reason, thenWaits }) => [
      number,
      `${kind} ${index}`,
      reason,
      thenWaits,
    ]),
    [
      [1, 'add 0', '0 pods, 2 wanted', ['1 pods are starting']],
      [2, 'add 1', '1 pods, 2 wanted', ['1 pods are starting']],
    ],
  );
  assert.equal(fromNothing.end.reason, '2 pods are ready');
  assert.deepEqual(
    pool.forecast(2, { made: 3, ready: 3 }).entries.map(({ step: taken }) => taken),
    [{ kind: 'remove', index: 2 }],
  );
});

test('P2: an exploration asks for everything within the bound, from every start', () => {
  const found = definePool().explore({ bound: 3, faults: 2, staleness: 0 });
  assert.deepEqual(found.violations, []);
  assert.equal(found.isComplete, true);
  assert.ok(found.states > 30, `${found.states} states`);
});

test('what an exploration finds is said with what was asked for', () => {
  const impatient = definePlanner({
    name: 'impatient',
    for: pools,
    desired: () => 1,
    observe: async () => ({ made: 0, ready: 0 }),
    plan: (size: number, { made }: Observation) =>
      made < size ? step<Step>({ kind: 'add', index: made }, 'more') : settled('made'),
    act: async () => undefined,
    model: { ...model, progress: () => [] },
    invariants: [],
  });
  const { violations } = impatient.explore({ bound: 1, faults: 0, desired: 1 });
  assert.deepEqual(
    violations.map(({ rule, desired }) => [rule, desired]),
    [['settled is the goal', 1]],
  );
});

test('without a model a planner runs, and says what a forecast would need', () => {
  const plain = definePlanner({
    name: 'plain',
    for: pools,
    desired: () => 1,
    observe: async () => 1,
    plan: () => settled('it is well'),
    act: async () => undefined,
  });
  assert.deepEqual(plain.plan(1, 1), { kind: 'settled', reason: 'it is well' });
  assert.throws(() => plain.forecast(1), /the planner plain has no model to forecast with/);
  assert.throws(() => plain.explore({ bound: 1, faults: 0 }), /no model to explore with/);
});

/** A planner under a manager, in simulated time. */
async function run(pool: PoolPlanner, size: number) {
  const world = simulatedWorld(7);
  const client = new FakeCluster();
  const key = { namespace: 'default', name: 'demo' };
  await client.create(pools, { metadata: { ...key, generation: 1 }, data: { size: String(size) } });
  const stop = new AbortController();
  const log = createLog({ write: () => undefined, world });
  const ended = createManager({ wholeCache: true, client, world, log, controllers: [pool.controller] }).run(
    stop.signal,
  );
  await world.advance(2_000);
  return {
    world,
    client,
    status: async () => (await client.get(pools, key)).status,
    async makeReady(name: string) {
      const pod = await client.get(pods, { namespace: 'default', name });
      const conditions = [{ type: 'Ready', status: 'True' }];
      await client.update(pods, { ...pod, status: { conditions } }, { subresource: 'status' });
      await world.advance(2_000);
    },
    async end() {
      stop.abort(new Error('stop'));
      await world.run(ended, 60_000);
    },
  };
}

test('P3: its controller takes one step after the other, and says in the status what it waits for', async () => {
  const running = await run(definePool(), 2);
  assert.deepEqual((await running.client.list(pods)).items.map(({ metadata }) => metadata.name).toSorted(), [
    'demo-0',
    'demo-1',
  ]);
  const waiting = await running.status();
  assert.equal(waiting?.observedGeneration, 1);
  assert.deepEqual(
    waiting?.conditions?.map(({ type, status, message }) => [type, status, message]),
    [
      ['Ready', 'False', '0 of 2 pods are ready'],
      ['Reconciling', 'True', '0 of 2 pods are ready'],
      ['Stalled', 'False', ''],
    ],
  );
  await running.makeReady('demo-0');
  await running.makeReady('demo-1');
  const end = await running.status();
  assert.equal(isConditionTrue(end?.conditions, 'Ready'), true);
  assert.equal(isConditionTrue(end?.conditions, 'Reconciling'), false);
  await running.end();
});

test('P5: what needs a person is a condition with the remedy', async () => {
  const running = await run(definePool(), 12);
  const stalled = (await running.status())?.conditions?.find(({ type }) => type === 'Stalled');
  assert.deepEqual([stalled?.status, stalled?.message], ['True', '12 pods are asked for; ask for at most 9']);
  await running.end();
});

test('P4: a step that the world refuses for the moment is a wait with its words, and is taken later', async () => {
  const refusals = [
    new NotNowError('the disk is full', 500),
    StatusError.of('Conflict', 'somebody was faster'),
    ...Array.from({ length: 20 }, () => StatusError.of('Forbidden', 'exceeded quota')),
  ];
  const running = await run(definePool({ refusals }), 1);
  const refused = (await running.status())?.conditions?.find(({ type }) => type === 'Ready');
  assert.equal(refused?.message, 'exceeded quota');
  assert.ok(refusals.length > 10, 'it is not asked again and again');
  refusals.length = 0;
  await running.world.advance(6_000);
  assert.equal((await running.client.list(pods)).items.length, 1);
  await running.end();
});

test('a planner names indexes, channels and predicates as a controller does', () => {
  const byPhase = index(pods, 'phase', ({ status }) => [status?.phase ?? '']);
  const probes = channelSource({ name: 'the probe', capacity: 10 });
  const { controller } = definePlanner<Pool, number, Observation, Step>({
    name: 'pool',
    for: pools,
    indexes: [byPhase],
    channels: [probes],
    when: generationChanged,
    debounceMs: 20,
    desired: ({ data }) => Number(data?.size),
    observe: async () => ({ made: 0, ready: 0 }),
    plan: () => settled(),
    act: async () => undefined,
  });
  const { indexes, channels, when, debounceMs } = controller;
  assert.deepEqual({ indexes, channels, debounceMs }, { indexes: [byPhase], channels: [probes], debounceMs: 20 });
  assert.equal(when, generationChanged);
});
