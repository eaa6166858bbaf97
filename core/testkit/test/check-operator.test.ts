import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configMaps, type ObjectKey, pods } from '@castellan/machinery';
import type { ReconcileContext, ReconcileResult } from '@castellan/runtime';
import { type CheckName, checkOperator } from '../src/index.js';
import { greeterChecks } from './greeter-scenario.js';
import { greeterOperator, greeters, isReady, reconcileGreeter } from './sample-operator.js';

test('T13 a sound operator passes every point of every check', async () => {
  const report = await checkOperator(greeterChecks(), { atMost: 5 });
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
    await reconcileGreeter(key, context, { text: context.cache.get(configMaps, key) !== undefined });
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
    await reconcileGreeter(key, context, { status: isEarly });
    return isEarly ? { requeueAfterMs: waitMs } : undefined;
  };
}

for (const [check, create] of Object.entries(broken)) {
  test(`T14 an operator that is broken so is found by: ${check}`, async () => {
    const checks = [check as CheckName];
    const scenario = greeterChecks(() => greeterOperator(create()));
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
