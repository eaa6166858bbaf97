import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configMaps, pods } from '@castellan/machinery';
import { type TestCluster, testCluster } from '../src/index.js';
import { greeter, greeterOperator, greeters, isReady } from './sample-operator.js';

/** Two pods that greet come up, one is deleted and comes again, and all go with their greeter. */
async function greeterStory(seed: number): Promise<string> {
  const cluster = await testCluster({ clock: 'virtual', seed, operators: [() => greeterOperator()] });
  try {
    await cluster.apply([greeter({ pods: 2, text: 'hello' })]);
    await areReady(cluster, 2);
    const key = { namespace: 'default', name: 'hello-0' };
    const { uid } = await cluster.client.get(pods, key).then(({ metadata }) => metadata);
    await cluster.client.delete(pods, key);
    await cluster.runUntil('another hello-0', () => cluster.state.get(pods, key)?.metadata.uid !== uid, 60_000);
    await areReady(cluster, 2);
    await cluster.client.delete(greeters, { namespace: 'default', name: 'hello' });
    await cluster.runUntil('all to be gone', () => cluster.state.list(pods).length === 0, 120_000);
    return cluster.historyText();
  } finally {
    await cluster.stop();
  }
}

async function areReady(cluster: TestCluster, count: number): Promise<void> {
  await cluster.runUntil(
    `${count} pods to be ready`,
    () => cluster.state.list(pods).filter(isReady).length === count,
    60_000,
  );
}

test('T1 one seed gives the same history twice, and another seed another one', async () => {
  const first = await greeterStory(7);
  const second = await greeterStory(7);
  const other = await greeterStory(8);

  assert.ok(first.includes('put /registry/pods/default/hello-1'), 'the history holds no write of a pod');
  assert.equal(second, first);
  assert.notEqual(other, first);
});

test('T2 no time passes while the test does not wait, and a minute of it takes a minute', async () => {
  const cluster = await testCluster({ clock: 'virtual', operators: [() => greeterOperator()] });
  try {
    const beforeMs = cluster.world.clock.monotonicNow();
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(cluster.world.clock.monotonicNow(), beforeMs);
    await cluster.advance(60_000);
    assert.equal(cluster.world.clock.monotonicNow(), beforeMs + 60_000);
  } finally {
    await cluster.stop();
  }
});

test('T2 calls that a test makes at once are all answered', async () => {
  const cluster = await testCluster({ clock: 'virtual', controllers: false, nodes: 0 });
  try {
    const names = ['a', 'b', 'c'];
    await Promise.all(
      names.map((name) => cluster.client.create(configMaps, { metadata: { namespace: 'default', name } })),
    );
    const { items } = await cluster.client.list(configMaps, { namespace: 'default' });
    assert.deepEqual(
      items.map(({ metadata }) => metadata.name),
      ['a', 'b', 'c'],
    );
  } finally {
    await cluster.stop();
  }
});

test('T3 a pod runs its init container, becomes ready, restarts after a crash, and ends within its grace', async () => {
  const cluster = await testCluster({ clock: 'virtual', seed: 3 });
  const key = { namespace: 'default', name: 'web' };
  const pod = () => cluster.state.get(pods, key);
  try {
    await cluster.apply([
      {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: key,
        spec: {
          initContainers: [{ name: 'init', image: 'busybox' }],
          containers: [{ name: 'main', image: 'web:1', readinessProbe: { exec: { command: ['true'] } } }],
        },
      } as never,
    ]);
    const started = await cluster.runUntil('the pod to be ready', () => readyPod(pod()), 60_000);
    assert.equal(started.status?.phase, 'Running');
    assert.deepEqual(
      started.status?.initContainerStatuses?.map(({ name, state }) => [name, state?.terminated?.exitCode]),
      [['init', 0]],
    );

    cluster.nodes.exit(key, 'main', 1);
    const again = await cluster.runUntil(
      'a restart',
      () => {
        const found = readyPod(pod());
        return found?.status?.containerStatuses?.[0]?.restartCount === 1 ? found : undefined;
      },
      60_000,
    );
    assert.equal(again.status?.containerStatuses?.[0]?.lastState?.terminated?.exitCode, 1);

    await cluster.client.delete(pods, key, { gracePeriodSeconds: 5 });
    await cluster.runUntil('the pod to be gone', () => pod() === undefined, 5_500);
  } finally {
    await cluster.stop();
  }
});

function readyPod<T extends Parameters<typeof isReady>[0]>(pod: T | undefined): T | undefined {
  return pod !== undefined && isReady(pod) ? pod : undefined;
}

test('T4 a wait that ends in vain says what for and how to repeat the run', async () => {
  const cluster = await testCluster({ clock: 'virtual', seed: 5, nodes: 0, replay: 'npm run sim -- --seed 5' });
  try {
    await assert.rejects(
      cluster.runUntil('the impossible', () => false, 1_000),
      {
        message: 'waited 1 s for the impossible; it did not happen\n  again: npm run sim -- --seed 5',
      },
    );
  } finally {
    await cluster.stop();
  }
});

test('a cluster on the real clock does the same things', async () => {
  const cluster = await testCluster({ clock: 'real', operators: [() => greeterOperator()] });
  try {
    await cluster.apply([greeter({ pods: 1, text: 'hello' })]);
    await areReady(cluster, 1);
  } finally {
    await cluster.stop();
  }
});
