import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type Pod, pods } from '@castellan/machinery';
import { waitFor } from '@castellan/world';
import {
  CountingWriter,
  callEtcd,
  clusterKey,
  etcdClusters,
  keysUnder,
  memberPods,
  membersOutOfReach,
  seedManifest,
  waitForMembers,
} from './etcd-instance.js';
import { PlaneProcess, world } from './plane-process.js';

let plane: PlaneProcess;
const restartsSeen = new Map<string, number>();

before(async () => {
  plane = await PlaneProcess.create();
  await plane.up();
  await plane.apply({ file: seedManifest });
  await waitForMembers(await plane.client(), 3);
});
after(async () => await plane.remove());

/** The pid of the etcd process of a member, found by its arguments. */
function etcdPid(podName: string): number {
  const pids = readdirSync('/proc').filter((entry) => {
    if (!/^\d+$/.test(entry)) return false;
    try {
      const [program, ...args] = readFileSync(`/proc/${entry}/cmdline`, 'utf8').split('\0');
      return program?.endsWith('/etcd') === true && args.includes(`--name=${podName}`);
    } catch {
      return false;
    }
  });
  assert.equal(pids.length, 1, `one etcd process of ${podName}, found ${pids.join(' ')}`);
  return Number(pids[0]);
}

/** Its command knows of no member but itself. */
function isStartedAlone({ metadata, spec }: Pod): boolean {
  const flag = spec?.containers[0]?.command?.find((each) => each.startsWith('--initial-cluster=')) ?? '';
  return flag.startsWith(`--initial-cluster=${metadata.name}=`) && !flag.includes(',');
}

function dataDirectoryOf(podUid: string): string {
  const pod = join(plane.directory, 'pods', podUid);
  const member = readdirSync(pod, { recursive: true, encoding: 'utf8' }).find((path) => path.endsWith('/member'));
  assert.ok(member !== undefined, `a data directory of pod ${podUid}`);
  return join(pod, member, '..');
}

/** Until the container of a member has been started again and is ready: its pod's status says so. */
async function waitForRestart(name: string): Promise<void> {
  const client = await plane.client();
  const restarted = async () => {
    const { status } = await client.get(pods, { namespace: 'default', name });
    const [container] = status?.containerStatuses ?? [];
    return container?.ready === true && container.restartCount > (restartsSeen.get(name) ?? 0) ? container : undefined;
  };
  const what = `container etcd of ${name} to be restarted and ready`;
  const container = await waitFor(world, restarted, { what, deadlineMs: 60_000 });
  restartsSeen.set(name, container.restartCount);
}

async function withWriter(story: () => Promise<void>): Promise<void> {
  const client = await plane.client();
  const writer = new CountingWriter(client);
  try {
    await story();
  } finally {
    await writer.stop();
  }
  const [pod] = await memberPods(client);
  const present = await keysUnder(pod?.status?.podIP ?? '', 'counted/');
  assert.deepEqual(
    writer.acknowledged.filter((key) => !present.has(key)),
    [],
    'acknowledged and lost',
  );
}

test('a member killed with kill -9 comes back in place with its data and its id', {
  skip: membersOutOfReach,
}, async () => {
  const client = await plane.client();
  const [victim] = await memberPods(client);
  const name = victim?.metadata.name ?? '';
  await withWriter(async () => {
    const pid = etcdPid(name);
    process.kill(pid, 'SIGKILL');
    await waitForRestart(name);
    await waitForMembers(client, 3, { deadlineMs: 90_000 });
    assert.notEqual(etcdPid(name), pid);
  });
});

test('the leader killed with kill -9: another leads, and no acknowledged write is lost', {
  skip: membersOutOfReach,
}, async () => {
  const client = await plane.client();
  const leader = (await client.get(etcdClusters, clusterKey)).status?.leader ?? '';
  await withWriter(async () => {
    process.kill(etcdPid(leader), 'SIGKILL');
    await waitForRestart(leader);
    await waitForMembers(client, 3, { deadlineMs: 90_000 });
  });
});

test('a deleted member pod is replaced by a new member with a new id, within 20 s', {
  skip: membersOutOfReach,
}, async (context) => {
  const client = await plane.client();
  const [victim] = await memberPods(client);
  const name = victim?.metadata.name ?? '';
  await withWriter(async () => {
    const startedMs = world.clock.monotonicNow();
    await client.delete(pods, { namespace: 'default', name }, { gracePeriodSeconds: 0 });
    await waitFor(world, async () => !(await memberPods(client)).some(({ metadata }) => metadata.name === name), {
      what: `pod ${name} to be gone`,
      deadlineMs: 60_000,
    });
    await waitForMembers(client, 3, { deadlineMs: 60_000, without: name });
    const seconds = (world.clock.monotonicNow() - startedMs) / 1000;
    context.diagnostic(`replaced and Available again after ${seconds.toFixed(1)} s`);
  });
  const names = (await memberPods(client)).map(({ metadata }) => metadata.name);
  assert.ok(!names.includes(name));
});

test('E-04: the wiped data directory of the original seed never makes a second cluster', {
  skip: membersOutOfReach,
}, async () => {
  const client = await plane.client();
  // The seed may have been replaced by the stories before: make a fresh instance, whose seed we know.
  await client.delete(etcdClusters, clusterKey, { propagationPolicy: 'Foreground' });
  await waitFor(
    world,
    async () => (await memberPods(client)).length === 0 && (await client.find(etcdClusters, clusterKey)) === undefined,
    {
      what: 'the first instance to be gone',
      deadlineMs: 60_000,
    },
  );
  await plane.apply({ file: seedManifest });
  const instance = await waitForMembers(client, 3);
  const members = await memberPods(client);
  const [seed, ...more] = members.filter(isStartedAlone);
  assert.ok(seed !== undefined && more.length === 0, 'one pod is the seed: it was started alone');
  const seedName = seed.metadata.name ?? '';
  const others = members.filter((pod) => pod !== seed);
  await callEtcd(others[0]?.status?.podIP ?? '', '/v3/kv/put', { key: btoa('before/wipe'), value: btoa('x') });

  rmSync(dataDirectoryOf(seed.metadata.uid ?? ''), { recursive: true, force: true });
  process.kill(etcdPid(seedName), 'SIGKILL');

  await waitFor(world, async () => !(await memberPods(client)).some(({ metadata }) => metadata.name === seedName), {
    what: `the wiped seed ${seedName} to be replaced`,
    deadlineMs: 90_000,
  });
  const healed = await waitForMembers(client, 3, { deadlineMs: 90_000 });
  assert.equal(healed.status?.clusterID, instance.status?.clusterID);
  for (const pod of await memberPods(client)) {
    assert.deepEqual(
      [...(await keysUnder(pod.status?.podIP ?? '', 'before/'))],
      ['before/wipe'],
      pod.metadata.name ?? '',
    );
  }
});
