import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  deployments,
  type Pod,
  type PodDisruptionBudget,
  podDisruptionBudgets,
  pods,
  replicaSets,
  statefulSets,
} from '@castellan/machinery';
import { disruptionController } from '../src/disruption/disruption-controller.js';
import { planBudget } from '../src/disruption/plan-budget.js';
import { staleDisruptionTargetController } from '../src/disruption/stale-target-controller.js';
import { Bench } from './bench.js';

type Spec = NonNullable<PodDisruptionBudget['spec']>;

const key = { namespace: 'default', name: 'budget' };
const labels = { app: 'web' };
const nowMs = Date.parse('2026-01-01T00:10:00Z');

function budget(spec: Spec, status?: PodDisruptionBudget['status']): PodDisruptionBudget {
  const metadata = { ...key, uid: 'uid-budget', generation: 1 };
  return {
    metadata,
    spec: { selector: { matchLabels: labels }, ...spec },
    ...(status === undefined ? {} : { status }),
  };
}

interface Facts {
  readonly isReady?: boolean;
  readonly isDeleted?: boolean;
  readonly owner?: { readonly kind: string; readonly name: string; readonly apiVersion?: string };
}

function pod(name: string, { isReady = true, isDeleted = false, owner }: Facts = {}): Pod {
  const reference = owner === undefined ? undefined : { apiVersion: 'apps/v1', uid: `uid-${owner.name}`, ...owner };
  return {
    metadata: {
      ...{ namespace: 'default', name, uid: `uid-${name}`, labels },
      ...(isDeleted ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
      ...(reference === undefined ? {} : { ownerReferences: [{ ...reference, controller: true }] }),
    },
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }] },
  };
}

const ready = (count: number) => Array.from({ length: count }, (_, index) => pod(`p${index}`));

function counts(spec: Spec, of: readonly Pod[], scale = of.length) {
  const { status } = planBudget({ budget: budget(spec), pods: of, scale, nowMs });
  return [status.expectedPods, status.desiredHealthy, status.currentHealthy, status.disruptionsAllowed];
}

test('PB1 as many may go as are healthy beyond what the budget wants', () => {
  assert.deepEqual(counts({ minAvailable: 2 }, ready(3)), [3, 2, 3, 1]);
  assert.deepEqual(counts({ minAvailable: 3 }, [...ready(2), pod('x', { isReady: false })]), [3, 3, 2, 0]);
  assert.deepEqual(counts({ maxUnavailable: 1 }, ready(3), 4), [4, 3, 3, 0]);
  assert.deepEqual(counts({ maxUnavailable: 5 }, ready(3)), [3, 0, 3, 3]);
  assert.deepEqual(counts({ minAvailable: 0 }, []), [0, 0, 0, 0], 'without pods nothing is allowed');
});

test('PB1 percentages are of what the controllers want, rounded up', () => {
  assert.deepEqual(counts({ minAvailable: '50%' }, ready(7), 7), [7, 4, 7, 3]);
  assert.deepEqual(counts({ maxUnavailable: '30%' }, ready(7), 7), [7, 4, 7, 3]);
});

test('PB1 a pod that is being deleted is not healthy', () => {
  assert.deepEqual(counts({ minAvailable: 1 }, [pod('a'), pod('b', { isDeleted: true })]), [2, 1, 1, 0]);
});

test('PB2 an eviction that was agreed to counts until the pod is being deleted, for two minutes at most', () => {
  const disruptedPods = { p0: '2026-01-01T00:09:00Z', p1: '2026-01-01T00:08:00Z', gone: '2026-01-01T00:09:00Z' };
  const before = { disruptedPods, disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 };
  const plan = planBudget({ budget: budget({ minAvailable: 1 }, before), pods: ready(3), scale: 0, nowMs });
  assert.deepEqual(plan.status.disruptedPods, { p0: '2026-01-01T00:09:00Z' });
  assert.equal(plan.status.currentHealthy, 2);
  assert.deepEqual(
    plan.notDeleted.map(({ metadata }) => metadata.name),
    ['p1'],
  );
  assert.equal(plan.waitMs, 60_000);
});

test('PB3 the condition says whether any may go, since when, and for which generation', () => {
  const first = planBudget({ budget: budget({ minAvailable: 1 }), pods: ready(2), scale: 0, nowMs }).status;
  assert.deepEqual(first.conditions, [
    {
      type: 'DisruptionAllowed',
      status: 'True',
      reason: 'SufficientPods',
      message: '',
      observedGeneration: 1,
      lastTransitionTime: '2026-01-01T00:10:00Z',
    },
  ]);
  const of = budget({ minAvailable: 1 }, first);
  assert.equal(planBudget({ budget: of, pods: ready(2), scale: 0, nowMs: nowMs + 5_000 }).isChanged, false);
  const spent = planBudget({ budget: of, pods: ready(1), scale: 0, nowMs: nowMs + 5_000 }).status.conditions?.[0];
  assert.deepEqual([spent?.reason, spent?.lastTransitionTime], ['InsufficientPods', '2026-01-01T00:10:05Z']);
});

async function benchWith(spec: Spec, of: readonly Pod[]): Promise<Bench> {
  const bench = new Bench(disruptionController());
  for (const type of [podDisruptionBudgets, replicaSets, deployments, statefulSets]) bench.server.serve(type);
  await bench.server.add(podDisruptionBudgets, budget(spec));
  for (const each of of) await bench.server.add(pods, each);
  return bench;
}

async function statusOf(bench: Bench) {
  await bench.reconcile(key);
  return (await bench.server.get(podDisruptionBudgets, key)).status;
}

const replicas = (name: string, count: number, owners = {}) => ({
  metadata: { namespace: 'default', name, uid: `uid-${name}`, ...owners },
  spec: { replicas: count, selector: { matchLabels: labels }, template: { metadata: { labels } } },
});

test('PB4 the scales of all controllers add up; a ReplicaSet counts as the Deployment that has it', async () => {
  const owners = {
    ownerReferences: [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'd', uid: 'uid-d', controller: true }],
  };
  const of = (kind: string, name: string) => ({ owner: { kind, name } });
  const bench = await benchWith({ maxUnavailable: '50%' }, [
    pod('a', of('ReplicaSet', 'old')),
    pod('b', of('ReplicaSet', 'new')),
    pod('c', of('StatefulSet', 's')),
  ]);
  await bench.server.add(replicaSets, replicas('old', 1, owners));
  await bench.server.add(replicaSets, replicas('new', 3, owners));
  await bench.server.add(deployments, replicas('d', 4));
  await bench.server.add(statefulSets, { ...replicas('s', 2), spec: { ...replicas('s', 2).spec, serviceName: '' } });
  const status = await statusOf(bench);
  assert.deepEqual([status?.expectedPods, status?.desiredHealthy], [6, 3]);
  assert.deepEqual(bench.keysFor(deployments, replicas('d', 9)), [key], 'another scale asks for another look');
});

test('PB4 a controller without a scale allows nothing, and is told', async () => {
  const bench = await benchWith({ maxUnavailable: 1 }, [pod('a', { owner: { kind: 'DaemonSet', name: 'd' } })]);
  const status = await statusOf(bench);
  assert.equal(status?.disruptionsAllowed, 0);
  assert.equal(status?.conditions?.[0]?.reason, 'SyncFailed');
  assert.deepEqual(
    bench.notes.map(({ reason }) => reason),
    ['CalculateExpectedPodCountFailed'],
  );
});

test('PB4 pods that nobody controls are told where the budget is a share of what controllers want', async () => {
  const bench = await benchWith({ maxUnavailable: 1 }, [pod('a')]);
  await statusOf(bench);
  assert.deepEqual(
    bench.notes.map(({ reason }) => reason),
    ['UnmanagedPods'],
  );
  const whole = await benchWith({ minAvailable: 1 }, [pod('a')]);
  await statusOf(whole);
  assert.deepEqual(whole.notes, []);
});

test('PB5 a pod that was said to go and did not is no target any more after two minutes, unless its node said it', async () => {
  for (const reason of ['EvictionByEvictionAPI', 'TerminationByKubelet']) {
    const bench = new Bench(staleDisruptionTargetController());
    const lastTransitionTime = new Date(bench.world.clock.now()).toISOString();
    const conditions = [{ type: 'DisruptionTarget', status: 'True', reason, lastTransitionTime }];
    await bench.server.add(pods, { ...pod('a'), status: { phase: 'Running', conditions } });
    const first = await bench.reconcile({ namespace: 'default', name: 'a' });
    assert.deepEqual(first, reason === 'TerminationByKubelet' ? undefined : { requeueAfterMs: 120_000 });
    await bench.world.advance(120_000);
    await bench.reconcile({ namespace: 'default', name: 'a' });
    const { status } = await bench.server.get(pods, { namespace: 'default', name: 'a' });
    assert.equal(status?.conditions?.[0]?.status, reason === 'TerminationByKubelet' ? 'True' : 'False');
  }
});
