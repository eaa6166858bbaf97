import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  controllerRevisions,
  type DaemonSet,
  daemonSets,
  events,
  isConditionTrue,
  nodes,
  pods,
} from '@castellan/machinery';
import type { TestCluster } from '@castellan/testkit';
import { daemonSet, daemonSetKey, isEverywhere } from './simulation/daemon-set-checks.js';
import { inCluster } from './simulation/in-cluster.js';

async function everywhere(cluster: TestCluster, wanted: DaemonSet, count?: number): Promise<void> {
  await cluster.apply([wanted]);
  await cluster.runUntil('an available pod on every node', () => isEverywhere(cluster, count), 300_000);
}

const podsByNode = ({ state }: TestCluster) =>
  state.list(pods).map(({ spec }) => `${spec?.nodeName} ${spec?.containers[0]?.image}`);

test('DS1: every node has a pod; one that is lost is made anew, one that is labelled away goes', async () => {
  await inCluster(async (cluster) => {
    await everywhere(cluster, daemonSet('agent:1'));
    assert.deepEqual(podsByNode(cluster).toSorted(), ['node-1 agent:1', 'node-2 agent:1', 'node-3 agent:1']);
    const [first] = cluster.state.list(pods);
    await cluster.client.delete(pods, { namespace: 'default', name: first?.metadata.name ?? '' });
    await cluster.advance(1_000);
    await cluster.runUntil('its successor', () => isEverywhere(cluster), 60_000);
    const template = daemonSet('agent:1').spec?.template;
    const spec = { containers: template?.spec?.containers ?? [], nodeSelector: { run: 'yes' } };
    const label = { type: 'merge', body: { metadata: { labels: { run: 'yes' } } } } as const;
    await cluster.client.patch(nodes, { name: 'node-2' }, label);
    await everywhere(cluster, daemonSet('agent:1', { template: { ...template, spec } }), 1);
    await cluster.client.patch(nodes, { name: 'node-3' }, label);
    await cluster.runUntil('a pod on the second node', () => isEverywhere(cluster, 2), 60_000);
  });
});

test('DS1: a pod that fails is told and made anew, later each time', async () => {
  await inCluster(async (cluster) => {
    await everywhere(cluster, daemonSet('agent:1'));
    const running = () =>
      cluster.state.list(pods).find(({ spec, status }) => spec?.nodeName === 'node-1' && status?.phase === 'Running');
    for (let round = 0; round < 3; round++) {
      const name = running()?.metadata.name ?? '';
      const failed = { type: 'merge', body: { status: { phase: 'Failed' } } } as const;
      await cluster.client.patch(pods, { namespace: 'default', name }, failed, { subresource: 'status' });
      await cluster.runUntil('its successor', () => running() !== undefined, 60_000);
    }
    await cluster.advance(1_000);
    const told = cluster.state.list(events).filter(({ reason }) => reason === 'FailedDaemonPod');
    assert.match(
      told[0]?.message ?? '',
      /^Found failed daemon pod default\/agent-\w+ on node node-1, will try to kill it$/,
    );
  });
});

test('DS3: an update leaves all nodes but one with a pod that serves; with surge all of them', async () => {
  await inCluster(async (cluster) => {
    const lowest = async (wanted: DaemonSet) => {
      let least = 3;
      await cluster.apply([wanted]);
      const isDone = () => {
        const ready = cluster.state
          .list(pods)
          .filter(
            ({ metadata, status }) =>
              metadata.deletionTimestamp === undefined && isConditionTrue(status?.conditions, 'Ready'),
          );
        least = Math.min(least, new Set(ready.map(({ spec }) => spec?.nodeName)).size);
        return isEverywhere(cluster);
      };
      await cluster.runUntil('it to be updated', isDone, 300_000);
      return least;
    };
    await everywhere(cluster, daemonSet('agent:1'));
    assert.equal(await lowest(daemonSet('agent:2')), 2);
    const surging = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } as const;
    assert.equal(await lowest(daemonSet('agent:3', { updateStrategy: surging })), 3);
  });
});

test('DS3: with OnDelete a pod is of the new template when it was deleted; the history keeps both', async () => {
  await inCluster(async (cluster) => {
    const updateStrategy = { type: 'OnDelete' } as const;
    await everywhere(cluster, daemonSet('agent:1', { updateStrategy }));
    await cluster.apply([daemonSet('agent:2', { updateStrategy })]);
    await cluster.advance(30_000);
    assert.ok(podsByNode(cluster).every((text) => text.endsWith('agent:1')));
    for (const { metadata } of cluster.state.list(pods)) {
      await cluster.client.delete(pods, { namespace: 'default', name: metadata.name ?? '' });
    }
    await cluster.runUntil('new pods', () => isEverywhere(cluster), 60_000);
    const numbers = cluster.state.list(controllerRevisions).map(({ revision }) => revision);
    assert.deepEqual(numbers.toSorted(), [1, 2]);
  });
});

test('DS5: deleted, it makes no more pods, and those that it has go', async () => {
  await inCluster(async (cluster) => {
    await everywhere(cluster, daemonSet('agent:1'));
    await cluster.client.delete(daemonSets, daemonSetKey, { propagationPolicy: 'Foreground' });
    await cluster.runUntil('all to be gone', () => cluster.state.list(pods).length === 0, 60_000);
    assert.deepEqual(cluster.state.list(controllerRevisions), []);
  });
});
