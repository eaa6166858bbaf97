// The seed's three-member etcd cluster: from apply to Available, and from a killed member to Available again. The peer, in
// the same run: the same sequence of member add --learner, start and promote, made by hand with etcdctl on loopback.
//   node bench/etcd-instance.mjs
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { connect, loadKubeconfig } from '@castellan/client';
import { pods } from '@castellan/machinery';
import { realWorld, waitFor } from '@castellan/world';

const world = realWorld();
const root = resolve(import.meta.dirname, '..');
const program = join(root, 'bin/castellan');
const instances = {
  group: 'etcd.database.coreos.com',
  version: 'v1beta2',
  kind: 'EtcdCluster',
  plural: 'etcdclusters',
  isNamespaced: true,
};
const key = { namespace: 'default', name: 'example-etcd-cluster' };

const byHandMs = await byHand();
console.log(`by hand with etcdctl: three members serve after   ${seconds(byHandMs)}`);
const { applyMs, replaceMs } = await ours();
console.log(
  `apply of the seed's manifest → Available          ${seconds(applyMs)} = ${(applyMs / byHandMs).toFixed(2)} × by hand (to reach: 1.3)`,
);
console.log(`member pod deleted → replaced, Available again    ${seconds(replaceMs)} (to reach: 20 s)`);

async function ours() {
  const directory = mkdtempSync(join(tmpdir(), 'castellan-bench-'));
  castellan('up', '--detach', '--data-dir', directory, '--port', '0');
  const client = connect(await loadKubeconfig(join(directory, 'kubeconfig')), { world });
  try {
    await waitFor(
      world,
      async () =>
        (await client.list({ group: '', version: 'v1', kind: 'Node', plural: 'nodes', isNamespaced: false })).items
          .length > 0,
      {
        what: 'the node to register',
        deadlineMs: 10_000,
      },
    );
    let startedMs = performance.now();
    castellan('apply', '-f', join(root, 'examples/etcd/cluster.yaml'), '--data-dir', directory);
    await available(client);
    const applyMs = performance.now() - startedMs;
    const victim = (await client.list(pods, { namespace: 'default' })).items[0];
    startedMs = performance.now();
    await client.delete(pods, { namespace: 'default', name: victim.metadata.name }, { gracePeriodSeconds: 0 });
    await waitFor(
      world,
      async () => (await client.find(pods, { namespace: 'default', name: victim.metadata.name })) === undefined,
      {
        what: 'the pod to be gone',
        deadlineMs: 20_000,
      },
    );
    await available(client, victim.metadata.name);
    return { applyMs, replaceMs: performance.now() - startedMs };
  } finally {
    await client.close();
    castellan('down', '--data-dir', directory);
    rmSync(directory, { recursive: true });
  }
}

/** Until the instance is Available with three ready members, none of them `without`. */
async function available(client, without) {
  await waitFor(
    world,
    async () => {
      const { status } = await client.get(instances, key);
      const ready = status?.members?.ready ?? [];
      const isAvailable = status?.conditions?.some(
        ({ type, status: value }) => type === 'Available' && value === 'True',
      );
      return isAvailable && ready.length === 3 && !ready.includes(without);
    },
    { what: 'three ready members', deadlineMs: 120_000, everyMs: 20 },
  );
}

async function byHand() {
  const directory = mkdtempSync(join(tmpdir(), 'castellan-bench-'));
  const members = [0, 1, 2].map((number) => ({
    name: `member-${number}`,
    client: `http://127.0.0.1:${23790 + number * 10}`,
    peer: `http://127.0.0.1:${23801 + number * 10}`,
  }));
  const processes = [];
  const start = (member, state, all) => {
    const args = [
      `--name=${member.name}`,
      `--data-dir=${join(directory, member.name)}`,
      `--listen-client-urls=${member.client}`,
      `--advertise-client-urls=${member.client}`,
      `--listen-peer-urls=${member.peer}`,
      `--initial-advertise-peer-urls=${member.peer}`,
      `--initial-cluster=${all.map(({ name, peer }) => `${name}=${peer}`).join(',')}`,
      `--initial-cluster-state=${state}`,
      '--initial-cluster-token=bench',
    ];
    processes.push(spawn('etcd', args, { stdio: 'ignore' }));
  };
  try {
    const startedMs = performance.now();
    const [seed] = members;
    start(seed, 'new', [seed]);
    await etcdctlUntilDone(seed, ['endpoint', 'health']);
    for (let size = 2; size <= 3; size += 1) {
      const member = members[size - 1];
      const added = await etcdctlUntilDone(seed, [
        'member',
        'add',
        member.name,
        '--learner',
        `--peer-urls=${member.peer}`,
      ]);
      const id = /Member\s+([0-9a-f]+) added/.exec(added)?.[1];
      start(member, 'existing', members.slice(0, size));
      await etcdctlUntilDone(seed, ['member', 'promote', id]);
      await etcdctlUntilDone(member, ['endpoint', 'health']);
    }
    return performance.now() - startedMs;
  } finally {
    for (const child of processes) child.kill('SIGKILL');
    rmSync(directory, { recursive: true, force: true });
  }
}

/** A person would try again at once when etcd refuses: every 100 ms. */
async function etcdctlUntilDone(member, args) {
  return await waitFor(
    world,
    () => {
      try {
        return execFileSync('etcdctl', [`--endpoints=${member.client}`, ...args], {
          encoding: 'utf8',
          stdio: ['ignore', 'pipe', 'ignore'],
          env: { ...process.env, ETCDCTL_API: '3' },
          timeout: 5_000,
        });
      } catch {
        return undefined;
      }
    },
    { what: `etcdctl ${args.join(' ')}`, deadlineMs: 60_000, everyMs: 100 },
  );
}

function castellan(...args) {
  return execFileSync(process.execPath, [program, ...args], { encoding: 'utf8' });
}

function seconds(ms) {
  return `${(ms / 1000).toFixed(2)} s`;
}
