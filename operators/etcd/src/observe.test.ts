import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Pod, pods, services } from '@castellan/machinery';
import { simulatedWorld } from '@castellan/world';
import { InMemoryCluster } from '../test/in-memory-cluster.js';
import { EtcdUnreachableError } from './admin/errors.js';
import type { EtcdAdmin } from './admin/etcd-admin.js';
import type { EtcdMember, EtcdMemberState } from './admin/etcd-member.js';
import type { EtcdCluster } from './api/etcd-cluster.js';
import { ClusterMemory } from './memory.js';
import { memberLabels, peerUrlOf } from './names.js';
import { observe } from './observe.js';

const cluster: EtcdCluster = {
  metadata: { name: 'demo', namespace: 'default', uid: 'u1' },
  spec: { size: 3, version: '3.4.23' },
  status: { clusterID: 'c1' },
};

/** One member of a simulated etcd: what it says, or nothing when `isSilent`. */
interface Peer {
  readonly name: string;
  readonly state?: Partial<EtcdMemberState>;
  readonly members?: readonly EtcdMember[];
  readonly isSilent?: boolean;
}

const idOf = (name: string) => String(name.charCodeAt(0));

function member(name: string, changes: Partial<EtcdMember> = {}): EtcdMember {
  const peerUrls = [peerUrlOf(cluster, `demo-${name}`)];
  return { id: idOf(name), name: `demo-${name}`, peerUrls, clientUrls: [], isLearner: false, ...changes };
}

function memberPod(name: string, index: number, ownerUid = 'u1'): Pod {
  const state = { running: { startedAt: '2026-01-01T00:00:00Z' } };
  const etcd = { name: 'etcd', image: '', imageID: '', ready: true, restartCount: 0, state };
  return {
    metadata: {
      name: `demo-${name}`,
      namespace: 'default',
      labels: memberLabels('demo'),
      ownerReferences: [{ apiVersion: '', kind: 'EtcdCluster', name: 'demo', uid: ownerUid, controller: true }],
      creationTimestamp: `2026-01-01T00:00:0${index}Z`,
    },
    status: { phase: 'Running', podIP: `10.0.0.${idOf(name)}`, containerStatuses: [etcd] },
  };
}

async function look(peers: readonly Peer[], prepare: (api: InMemoryCluster) => void = () => {}) {
  const api = new InMemoryCluster();
  for (const [index, { name }] of peers.entries()) api.create(pods, memberPod(name, index));
  prepare(api);
  const answer = (endpoint: string) => {
    const peer = peers.find(({ name }) => endpoint === `http://10.0.0.${idOf(name)}:2379`);
    if (peer === undefined || peer.isSilent) throw new EtcdUnreachableError('status', endpoint, { cause: 'refused' });
    return peer;
  };
  const admin: Pick<EtcdAdmin, 'status' | 'members'> = {
    status: async (endpoint) => {
      const { name, state } = answer(endpoint);
      const usual = { clusterId: 'c1', memberId: idOf(name), leaderId: idOf('a'), isLearner: false };
      return { ...usual, version: '3.4.23', raftTerm: 2, raftIndex: 100, raftAppliedIndex: 100, errors: [], ...state };
    },
    members: async (endpoint) => ({ clusterId: 'c1', members: answer(endpoint).members ?? [] }),
  };
  const world = simulatedWorld(1);
  const { client, reader } = api;
  return observe(cluster, {
    client,
    cache: reader,
    admin: admin as EtcdAdmin,
    world,
    memory: new ClusterMemory(world.clock),
    signal: AbortSignal.timeout(5000),
  });
}

test("the leader's list of members is the one that counts", async () => {
  const now = [member('a'), member('b'), member('c')];
  const observation = await look([
    { name: 'b', members: now.slice(0, 2), state: { raftAppliedIndex: 900 } },
    { name: 'a', members: now },
  ]);
  assert.equal(observation.endpoint, `http://10.0.0.${idOf('a')}:2379`);
  const { membership } = observation;
  assert.ok(membership.kind === 'known');
  assert.deepEqual(
    membership.members.map(({ name, isHealthy, isLeader }) => `${name} ${isHealthy} ${isLeader}`),
    ['demo-a true true', 'demo-b true false', 'demo-c false false'],
  );
});

test('when nobody answers the members are unknown, not gone', async () => {
  const observation = await look([{ name: 'a', isSilent: true }]);
  assert.deepEqual(observation.membership, { kind: 'unknown', reason: 'none is up', learners: [] });
});

test('learners that answer alone do not know the members, and are named', async () => {
  const observation = await look([{ name: 'b', state: { isLearner: true } }]);
  assert.ok(observation.membership.kind === 'unknown');
  assert.deepEqual(observation.membership.learners, ['demo-b']);
});

test('members of two clusters are a mismatch that names them', async () => {
  const members = [member('a'), member('b')];
  const observation = await look([
    { name: 'a', members },
    { name: 'b', members, state: { clusterId: 'c2' } },
  ]);
  assert.deepEqual(observation.membership, {
    kind: 'mismatch',
    reason: 'members belong to different clusters: demo-a is in c1, demo-b is in c2',
  });
});

test('a member that knows of no leader answers and is not healthy', async () => {
  const members = [member('a'), member('b')];
  const observation = await look([
    { name: 'a', members },
    { name: 'b', members, state: { leaderId: undefined } },
  ]);
  assert.ok(observation.membership.kind === 'known');
  assert.deepEqual(
    observation.membership.members.map(({ isHealthy }) => isHealthy),
    [true, false],
  );
});

test('a leader that does not know of its successor is not taken for the leader', async () => {
  const members = [member('a'), member('b')];
  const observation = await look([
    { name: 'a', members, state: { raftTerm: 2 } },
    { name: 'b', members, state: { leaderId: idOf('b'), raftTerm: 3 } },
  ]);
  assert.ok(observation.membership.kind === 'known');
  assert.deepEqual(
    observation.membership.members.map(({ isLeader, isHealthy }) => [isLeader, isHealthy]),
    [
      [false, false],
      [true, true],
    ],
  );
});

test('a learner has caught up at nine tenths of the log of the leader', async () => {
  const isCaughtUp = async (raftAppliedIndex: number) => {
    const members = [member('a'), member('b', { isLearner: true })];
    const observation = await look([
      { name: 'a', members },
      { name: 'b', state: { isLearner: true, raftAppliedIndex } },
    ]);
    return observation.membership.kind === 'known' && observation.membership.members[1]?.isCaughtUp;
  };
  assert.deepEqual([await isCaughtUp(89), await isCaughtUp(90)], [false, true]);
});

test('a learner is overdue five minutes after its process started, and not while its pod is only waiting', async () => {
  const members = [member('a'), member('b', { isLearner: true })];
  const isOverdue = async (running: boolean) => {
    const peers = [
      { name: 'a', members },
      { name: 'b', isSilent: true },
    ];
    const observation = await look(peers, (api) => {
      const key = { namespace: 'default', name: 'demo-b' };
      const old = api.require(pods, key);
      const state = running
        ? { running: { startedAt: '2025-12-31T23:54:00Z' } }
        : { waiting: { reason: 'ErrImagePull' } };
      const etcd = { name: 'etcd', image: '', imageID: '', ready: false, restartCount: 0, state };
      api.write(pods, key, { ...old, status: { containerStatuses: [etcd] } });
    });
    return observation.membership.kind === 'known' && observation.membership.members[1]?.isOverdue;
  };
  assert.deepEqual([await isOverdue(true), await isOverdue(false)], [true, false]);
});

test('a member that never started is known by the pod that its peer URL names', async () => {
  const members = [member('a'), member('b', { name: '' })];
  const observation = await look([{ name: 'a', members }]);
  assert.ok(observation.membership.kind === 'known');
  const [, added] = observation.membership.members;
  assert.deepEqual([added?.name, added?.isStarted], ['demo-b', false]);
});

test("a member's pod that the cache does not show yet is looked for at the API server", async () => {
  const observation = await look([{ name: 'a', members: [member('a'), member('b')] }], (api) => {
    api.create(pods, memberPod('b', 1));
    const { ownedBy } = api.reader;
    api.reader.ownedBy = (type, uid) => ownedBy(type, uid).filter(({ metadata }) => metadata.name !== 'demo-b');
  });
  assert.deepEqual(
    observation.pods.map(({ name }) => name),
    ['demo-a', 'demo-b'],
  );
});

test('pods and services of the same name that belong to someone else are not ours', async () => {
  const observation = await look([], (api) => {
    api.create(pods, memberPod('x', 0, 'someone else'));
    api.create(services, { metadata: { name: 'demo', namespace: 'default' } });
  });
  assert.deepEqual([observation.pods, observation.hasPeerService], [[], false]);
});
