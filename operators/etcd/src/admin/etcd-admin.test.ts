import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { realWorld, waitFor } from '@castellan/world';
import { EtcdProcess, isHealthy, loopbackAddress, noEtcd } from '../../test/etcd-processes.js';
import { EtcdRefusedError, EtcdUnreachableError } from './errors.js';
import { etcdAdmin } from './etcd-admin.js';
import { hexId } from './wire.js';

const admin = etcdAdmin();
const world = realWorld();

const clientUrl = (address: string) => `http://${address}:2379`;
const peerUrl = (address: string) => `http://${address}:2380`;

function startEtcd(name: string, address: string, initialCluster: string, state: 'new' | 'existing') {
  return EtcdProcess.create((dataDirectory) => [
    `--name=${name}`,
    `--data-dir=${dataDirectory}`,
    `--listen-client-urls=${clientUrl(address)}`,
    `--advertise-client-urls=${clientUrl(address)}`,
    `--listen-peer-urls=${peerUrl(address)}`,
    `--initial-advertise-peer-urls=${peerUrl(address)}`,
    `--initial-cluster=${initialCluster}`,
    `--initial-cluster-state=${state}`,
  ]);
}

function refusedAs(refusal: EtcdRefusedError['refusal']) {
  return (error: unknown) => error instanceof EtcdRefusedError && error.refusal === refusal;
}

describe('the admin client, with real etcd', { skip: noEtcd }, () => {
  const [first, second, third] = [loopbackAddress(), loopbackAddress(), loopbackAddress()];
  const processes: EtcdProcess[] = [];

  before(async () => {
    const seed = await startEtcd('first', first, `first=${peerUrl(first)}`, 'new');
    processes.push(seed);
    seed.start();
    await waitFor(world, () => isHealthy(first), { what: () => `etcd to be healthy: ${seed.log}`, deadlineMs: 60_000 });
  });
  after(() => Promise.all(processes.map((each) => each.remove())));

  test('reads the state and the members of a cluster of one', async () => {
    const state = await admin.status(clientUrl(first));
    const { clusterId, members } = await admin.members(clientUrl(first));
    assert.equal(state.clusterId, clusterId);
    assert.match(state.version, /^3\.\d+\.\d+/);
    assert.equal(state.leaderId, state.memberId);
    assert.deepEqual(
      members.map(({ id, name, peerUrls, isLearner }) => ({ id, name, peerUrls, isLearner })),
      [{ id: state.memberId, name: 'first', peerUrls: [peerUrl(first)], isLearner: false }],
    );
    assert.equal(hexId('18446744073709551615'), 'ffffffffffffffff');
  });

  test('puts and gets', async () => {
    await admin.put(clientUrl(first), 'ключ', 'valeur');
    assert.equal(await admin.get(clientUrl(first), 'ключ'), 'valeur');
    assert.equal(await admin.get(clientUrl(first), 'absent'), undefined);
  });

  test('adds a learner, which etcd knows by its peer URL only until it starts', async () => {
    await admin.addLearner(clientUrl(first), peerUrl(second));
    const { members } = await admin.members(clientUrl(first));
    const added = members.find(({ isLearner }) => isLearner);
    assert.deepEqual([added?.name, added?.peerUrls], ['', [peerUrl(second)]]);
  });

  test('knows a refusal by its name', async () => {
    await assert.rejects(admin.addLearner(clientUrl(first), peerUrl(third)), refusedAs('tooManyLearners'));
    // An ID is made of the peer URL and the second: a repetition within that second has the same.
    const again = await admin.addLearner(clientUrl(first), peerUrl(second)).catch((error: unknown) => error);
    assert.ok(refusedAs('peerUrlExists')(again) || refusedAs('memberExists')(again), String(again));
    await assert.rejects(admin.remove(clientUrl(first), '1'), refusedAs('memberNotFound'));
    const { members } = await admin.members(clientUrl(first));
    const learnerId = members.find(({ isLearner }) => isLearner)?.id ?? '';
    await assert.rejects(admin.promote(clientUrl(first), learnerId), refusedAs('learnerNotReady'));
  });

  test('promotes the learner once it is in sync, moves the leader to it and back, and removes it', async () => {
    const initialCluster = `first=${peerUrl(first)},second=${peerUrl(second)}`;
    const joining = await startEtcd('second', second, initialCluster, 'existing');
    processes.push(joining);
    joining.start();
    const learner = await waitFor(world, () => admin.status(clientUrl(second)).catch(() => undefined), {
      what: () => `the learner to answer: ${joining.log}`,
      deadlineMs: 60_000,
    });
    assert.equal(learner.isLearner, true);
    await assert.rejects(admin.members(clientUrl(second)), refusedAs('learnerCannot'));
    const isPromoted = () =>
      admin.promote(clientUrl(first), learner.memberId).then(
        () => true,
        () => false,
      );
    await waitFor(world, isPromoted, { what: 'the learner to be promoted', deadlineMs: 60_000 });
    await assert.rejects(admin.promote(clientUrl(first), learner.memberId), refusedAs('notLearner'));
    // etcd's own rule: no addition until all voters have been connected for five seconds.
    await assert.rejects(admin.addLearner(clientUrl(first), peerUrl(third)), refusedAs('unhealthyCluster'));

    const { memberId } = await admin.status(clientUrl(first));
    await admin.moveLeader(clientUrl(first), learner.memberId);
    await assert.rejects(admin.moveLeader(clientUrl(first), learner.memberId), refusedAs('notLeader'));
    await admin.moveLeader(clientUrl(second), memberId);
    const isRemoved = () =>
      admin.remove(clientUrl(first), learner.memberId).then(
        () => true,
        () => false,
      );
    await waitFor(world, isRemoved, { what: 'the second member to be removed', deadlineMs: 60_000 });
    assert.equal((await admin.members(clientUrl(first))).members.length, 1);
  });

  test('says when there was no answer', async () => {
    await assert.rejects(admin.status(clientUrl(third)), EtcdUnreachableError);
  });
});

test('a reply that is not JSON, and one that never comes, are both no answer', async () => {
  const html = etcdAdmin({ post: async () => ({ status: 200, body: '<html>' }) });
  await assert.rejects(html.status('http://gateway'), EtcdUnreachableError);
  const silent = etcdAdmin({ post: () => Promise.reject(new Error('no answer in 2000 ms')) });
  await assert.rejects(silent.status('http://gateway'), /no answer in 2000 ms/);
});
