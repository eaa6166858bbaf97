import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@castellan/machinery';
import type { EtcdCluster, EtcdMemberStatus } from './api/etcd-cluster.js';
import { forecastEtcdCluster, planEtcdClusterFile } from './plan-file.js';

const nowMs = Date.parse('2026-01-01T12:00:00Z');
const manifest: EtcdCluster = {
  kind: 'EtcdCluster',
  metadata: { name: 'demo', namespace: 'default' },
  spec: { size: 3, version: '3.2.13' },
};

function running(name: string): Pod {
  const etcd = { name: 'etcd', image: '', imageID: '', ready: true, restartCount: 0, state: { running: {} } };
  return { metadata: { name, uid: name }, status: { phase: 'Running', containerStatuses: [etcd] } };
}

function existing(pods: readonly Pod[], roles: Readonly<Record<string, EtcdMemberStatus['role']>>) {
  const memberDetails = Object.entries(roles).map(([name, role]) => ({ name, role, id: name, isHealthy: true }));
  const cluster = { ...manifest, status: { clusterID: 'c1', memberDetails } };
  return { cluster, pods, serviceNames: ['demo', 'demo-client'], nowMs };
}

test('the plan of a new cluster: service, seed, latch, seal, clients, then the others one by one', () => {
  const { steps, end } = forecastEtcdCluster(manifest);
  assert.deepEqual(
    steps.map(({ action, quorum }) => `${action} (${quorum.up}/${quorum.voters})`),
    [
      'create the headless service for the members (0/0)',
      'create the seed demo-1 (0/0)',
      'record the ID of the cluster (1/1)',
      'seal the seed demo-1: from now on it starts as existing (1/1)',
      'create the service for clients (1/1)',
      'add demo-2 to the members as a learner (1/1)',
      'create the pod of demo-2 (1/1)',
      'promote demo-2 to a voter (2/2)',
      'add demo-3 to the members as a learner (2/2)',
      'create the pod of demo-3 (2/2)',
      'promote demo-3 to a voter (3/3)',
    ],
  );
  assert.equal(end.kind, 'settled');
});

test('the plan of a smaller size begins with what there is, and keeps the leader', () => {
  const pods = ['demo-a', 'demo-b', 'demo-c'].map(running);
  const now = existing(pods, { 'demo-a': 'voter', 'demo-b': 'voter', 'demo-c': 'leader' });
  const { steps, end } = forecastEtcdCluster({ ...manifest, spec: { ...manifest.spec, size: 1 } }, now);
  assert.deepEqual(
    steps.map(({ action }) => action),
    [
      'remove demo-b from the members',
      'delete the pod demo-b',
      'remove demo-a from the members',
      'delete the pod demo-a',
    ],
  );
  assert.equal(end.kind, 'settled');
});

test('the plan of a cluster with a lost member replaces it', () => {
  const now = existing(['demo-a', 'demo-b'].map(running), { 'demo-a': 'leader', 'demo-b': 'voter', 'demo-c': 'voter' });
  const { steps } = forecastEtcdCluster(manifest, now);
  assert.equal(steps[0]?.action, 'remove demo-c from the members');
  assert.match(steps[0]?.reason ?? '', /its pod is gone/);
  assert.equal(steps.at(-1)?.action, 'promote demo-4 to a voter');
});

test('a manifest that cannot be carried out ends blocked, with what to do', async () => {
  const { steps, end } = await planEtcdClusterFile({ manifest: { ...manifest, spec: { size: 'three' } }, nowMs });
  assert.deepEqual(steps, []);
  assert.equal(
    end.kind === 'blocked' && `${end.reason}; ${end.remedy}`,
    'spec.size is "three"; set it to a whole number from 1 to 7',
  );
});

test('what is no EtcdCluster is refused by name', async () => {
  await assert.rejects(
    planEtcdClusterFile({ manifest: { kind: 'Pod' }, nowMs }),
    /kind is "Pod"; this plans an EtcdCluster/,
  );
  await assert.rejects(planEtcdClusterFile({ manifest: { kind: 'EtcdCluster' }, nowMs }), /metadata.name is missing/);
});
