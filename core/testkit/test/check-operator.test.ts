import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Client } from '@castellan/client';
import { configMaps, type ObjectKey, pods, type ResourceType } from '@castellan/machinery';
import type { Operator, ReconcileContext, ReconcileResult } from '@castellan/runtime';
import { type CheckName, checkOperator, type OperatorScenario } from '../src/index.js';
import { type Greeter, greeter, greeterOperator, greeters, isReady, reconcileGreeter } from './sample-operator.js';

const counts: Readonly<Record<string, number>> = { one: 1, three: 3 };

function scenarioOf(create: () => Operator): OperatorScenario {
  return {
    name: 'greeter',
    process: 'greeter',
    setUp: () => ({ operators: [create], nodes: 1 }),
    specs: { one: [greeter({ pods: 1, text: 'hello' })], three: [greeter({ pods: 3, text: 'bye' })] },
    badSpec: [greeter({ pods: -1, text: 'hello' })],
    settled: (cluster, spec) => {
      const found = cluster.state.get(greeters, { namespace: 'default', name: 'hello' });
      return found?.status?.ready === counts[spec] && found?.status?.observedGeneration === found?.metadata.generation;
    },
    outcome: [greeters, pods, configMaps],
    mayDiffer: { Pod: ['status'], ConfigMap: [] },
    settleMs: 60_000,
  };
}

test('T13 a sound operator passes every point of every check', async () => {
  const report = await checkOperator(
    scenarioOf(() => greeterOperator()),
    { atMost: 5 },
  );
  assert.deepEqual(report.failures, [], String(report));
  assert.deepEqual(
    report.checks.filter(({ results }) => results.length === 0).map(({ check }) => check),
    [],
  );
});

type Reconcile = (key: ObjectKey, context: ReconcileContext) => Promise<ReconcileResult>;

/** Each makes one life of an operator with one fault of thought, that the check of its name must find. */
const broken: Readonly<Record<CheckName, () => Reconcile>> = {
  'second reconcile': () => async (key, context) => {
    await reconcileGreeter(key, context);
    if (context.cache.get(greeters, key) === undefined) return;
    const annotations = { looked: String(context.world.clock.now()) };
    await context.client.patch(greeters, key, { type: 'merge', body: { metadata: { annotations } } });
    return { requeueAfterMs: 60_000 };
  },
  // What it has still to do is in its memory alone.
  'crash at a write': () => {
    const seen = new Set<number>();
    return async (key, context) => {
      const generation = context.cache.get(greeters, key)?.metadata.generation ?? 0;
      const isDone = context.cache.get(greeters, key)?.status?.observedGeneration === generation;
      const before = [...seen].length;
      if (!isDone) seen.add(generation);
      // After a restart in the middle it takes what is there for done.
      const own = context.cache.ownedBy(pods, context.cache.get(greeters, key)?.metadata.uid ?? '');
      if (before === 0 && own.length > 0) return;
      await reconcileGreeter(key, context);
    };
  },
  'read stale by one': looksOnce,
  'read stale by many': looksOnce,
  // Waits to see each pod with an address and not ready, which is so for a moment.
  'event missed': () => {
    const unready = new Set<string>();
    return async (key, context) => {
      const own = context.cache.ownedBy(pods, context.cache.get(greeters, key)?.metadata.uid ?? '');
      for (const pod of own) if (pod.status?.podIP !== undefined && !isReady(pod)) unready.add(pod.metadata.uid ?? '');
      if (own.some((pod) => isReady(pod) && !unready.has(pod.metadata.uid ?? ''))) return;
      await reconcileGreeter(key, context);
    };
  },
  // Text is only written at first.
  'specs in sequence': () => async (key, context) => {
    const { cache } = context;
    const text = cache.get(configMaps, key)?.data?.text;
    const found = cache.get(greeters, key);
    if (found === undefined) return;
    const spec = { ...found.spec, text: text ?? found.spec.text };
    await reconcileGreeter(key, withGreeter(context, { ...found, spec }));
    return undefined;
  },
  // Once refused, always refused.
  'bad spec, then good': () => {
    let isBroken = false;
    return async (key, context) => {
      isBroken ||= (context.cache.get(greeters, key)?.spec.pods ?? 0) < 0;
      if (!isBroken) await reconcileGreeter(key, context);
    };
  },
};

/** Five seconds are enough for any pod, it thinks: it looks once then, and never again. */
function looksOnce(): Reconcile {
  const asked = new Map<number, number>();
  return async (key, context) => {
    const { cache, world } = context;
    const found = cache.get(greeters, key);
    if (found === undefined) return undefined;
    const { generation = 0 } = found.metadata;
    const askedMs = asked.get(generation) ?? world.clock.monotonicNow();
    asked.set(generation, askedMs);
    const waitMs = askedMs + 5_000 - world.clock.monotonicNow();
    if (waitMs < -10) return undefined;
    const isEarly = waitMs > 0;
    await reconcileGreeter(key, isEarly ? withoutStatusWrites(context) : context);
    return isEarly ? { requeueAfterMs: waitMs } : undefined;
  };
}

function withoutStatusWrites(context: ReconcileContext): ReconcileContext {
  const update: Client['update'] = (type, object, options) =>
    options?.subresource === 'status' ? Promise.resolve(object) : context.client.update(type, object, options);
  return { ...context, client: { ...clientOf(context.client), update } };
}

function clientOf(client: Client): Client {
  return {
    get: (type, key, options) => client.get(type, key, options),
    find: (type, key, options) => client.find(type, key, options),
    list: (type, options) => client.list(type, options),
    create: (type, object, options) => client.create(type, object, options),
    update: (type, object, options) => client.update(type, object, options),
    patch: (type, key, patch, options) => client.patch(type, key, patch, options),
    delete: (type, key, options) => client.delete(type, key, options),
    watch: (type, options) => client.watch(type, options),
    request: (request) => client.request(request),
    close: () => client.close(),
  };
}

/** As if the cache had this Greeter. */
function withGreeter(context: ReconcileContext, found: Greeter): ReconcileContext {
  const { cache } = context;
  const get = (type: ResourceType, key: ObjectKey) => (type.kind === found.kind ? found : cache.get(type, key));
  const list: typeof cache.list = (type, options) => cache.list(type, options);
  const ownedBy: typeof cache.ownedBy = (type, uid) => cache.ownedBy(type, uid);
  return { ...context, cache: { get: get as typeof cache.get, list, ownedBy } };
}

for (const [check, create] of Object.entries(broken)) {
  test(`T14 an operator that is broken so is found by: ${check}`, async () => {
    const checks = [check as CheckName];
    const scenario = scenarioOf(() => greeterOperator(create()));
    const report = await checkOperator(scenario, {
      checks,
      untilFailure: true,
      replay: ({ point }) => `again ${point}`,
    });
    assert.deepEqual(report.failedChecks, [check], String(report));
    const [first] = report.failures;
    assert.ok(first?.failure?.endsWith(`again: again ${first.point}`), String(report));
  });
}
