import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdCluster } from '@castellan/etcd';
import type { Pod } from '@castellan/machinery';
import { describeInstance } from './describe-instance.js';
import { stateOf, viewInstance } from './instance-view.js';

const cluster: EtcdCluster = {
  metadata: { namespace: 'default', name: 'a' },
  spec: { size: 3, version: '3.2.13' },
  status: {
    reason: 'waiting for a-2 to catch up',
    leader: 'a-1',
    memberDetails: [
      { name: 'a-0', id: '1', role: 'voter', isHealthy: true },
      { name: 'a-1', id: '2', role: 'leader', isHealthy: true },
    ],
    currentVersion: '3.4.23',
    members: { ready: ['a-0', 'a-1'], unready: ['a-2'] },
    conditions: [{ type: 'Available', status: 'False', reason: '', message: '', lastTransitionTime: '' }],
  },
};

function podOf(name: string, status: Pod['status']): Pod {
  const metadata = { namespace: 'default', name, labels: { etcd_cluster: 'a' } };
  return status === undefined ? { metadata } : { metadata, status };
}

test('an instance is seen with its leader, its members and the reason why it is not further', () => {
  const view = viewInstance(cluster, [
    podOf('a-1', { phase: 'Running', podIP: '10.0.0.2' }),
    podOf('a-0', { phase: 'Running', podIP: '10.0.0.1' }),
    podOf('a-2', { phase: 'Pending' }),
    { metadata: { namespace: 'other', name: 'a-9', labels: { etcd_cluster: 'a' } } },
  ]);
  assert.deepEqual(
    view.members.map(({ name, role, clientUrl }) => [name, role, clientUrl]),
    [
      ['a-0', 'voter', 'http://10.0.0.1:2379'],
      ['a-1', 'leader', 'http://10.0.0.2:2379'],
      ['a-2', 'none', ''],
    ],
  );
  assert.equal(view.isAvailable, false);
  assert.match(
    describeInstance(view),
    /2\/3 ready {2}3\.4\.23 \(wanted 3\.2\.13\) {2}not available: waiting for a-2 to catch up/,
  );
});

test('an instance that nobody has looked at yet has no members and is not available', () => {
  const view = viewInstance(
    { metadata: { namespace: 'default', name: 'a' }, spec: { size: 1, version: '3.2.13' } },
    [],
  );
  assert.deepEqual([view.ready, view.isAvailable, view.members, view.reason], [0, false, [], '']);
});

test('the state of a pod is the sentence that says most', () => {
  const waiting = { name: 'etcd', state: { waiting: { reason: 'ErrImagePull', message: 'no etcd here' } } };
  const statuses = { name: 'etcd', ready: false, restartCount: 0, image: '', imageID: '' };
  assert.equal(
    stateOf(podOf('a', { phase: 'Pending', containerStatuses: [{ ...statuses, ...waiting }] })),
    'ErrImagePull: etcd: no etcd here',
  );
  const unscheduled = { type: 'PodScheduled', status: 'False', message: 'no node has room' };
  assert.equal(stateOf(podOf('a', { phase: 'Pending', conditions: [unscheduled] })), 'no node has room');
  assert.equal(stateOf(podOf('a', undefined)), 'Pending');
  assert.equal(stateOf({ metadata: { name: 'a', deletionTimestamp: '2026-01-01T00:00:00Z' } }), 'Terminating');
});
