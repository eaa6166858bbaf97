import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { nodes, type Pod, pods } from '@castellan/machinery';
import { waitFor } from '@castellan/world';
import { processesNaming } from './machine-state.js';
import { castellan, PlaneProcess, world } from './plane-process.js';

let plane: PlaneProcess;
/** Of the three nodes, in their order. */
let names: readonly [string, string, string];

/** Each start adds a line to a file of its volume, which is served over HTTP. */
const script = 'echo $HOSTNAME started >>/data/starts; exec busybox httpd -f -p 80 -h /data';
const replicas = `
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: web}
spec:
  replicas: 6
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 1
      containers:
      - name: main
        image: busybox:1.28
        command: [/bin/sh, -ec, '${script}']
        volumeMounts: [{name: data, mountPath: /data}]
      volumes: [{name: data, emptyDir: {}}]
`;

before(async () => {
  plane = await PlaneProcess.create();
  await plane.up(['--operators', 'none', '--nodes', '3', '--zones', 'a,b']);
  const listed = await node('ls');
  const [first = '', second = '', third = ''] = listed.map(({ name }) => name);
  names = [first, second, third];
  await plane.apply({ text: replicas });
});
after(async () => await plane.remove());

async function node(
  ...args: readonly string[]
): Promise<readonly { readonly name: string; readonly isRunning: boolean }[]> {
  const { code, stdout, stderr } = await castellan(['node', ...args, '-o', 'json', '--data-dir', plane.directory]);
  assert.equal(code, 0, stdout + stderr);
  return JSON.parse(stdout);
}

async function webPods(): Promise<readonly Pod[]> {
  return (await (await plane.client()).list(pods, { namespace: 'default', labelSelector: 'app=web' })).items;
}

/** Waits until six pods are ready, all of them on these nodes. */
async function readyOn(...wanted: readonly string[]): Promise<readonly Pod[]> {
  let seen: readonly Pod[] = [];
  const areThere = async () => {
    seen = await webPods();
    return seen.length === 6 && seen.every((pod) => isReady(pod) && wanted.includes(pod.spec?.nodeName ?? ''));
  };
  await waitFor(world, areThere, {
    what: () => `six ready pods on ${wanted.join(', ')}; there are ${JSON.stringify(seen.map(shortly))}`,
    deadlineMs: 60_000,
  });
  return seen;
}

function isReady({ metadata, status }: Pod): boolean {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  return ready?.status === 'True' && metadata.deletionTimestamp === undefined;
}

function shortly({ metadata, spec, status }: Pod): string {
  return `${metadata.name} on ${spec?.nodeName}: ${status?.phase} ${JSON.stringify(status?.containerStatuses)}`;
}

function on(all: readonly Pod[], nodeName: string): readonly Pod[] {
  return all.filter(({ spec }) => spec?.nodeName === nodeName);
}

function firstOn(all: readonly Pod[], nodeName: string): Pod {
  return on(all, nodeName)[0] ?? assert.fail(`no pod on ${nodeName}: ${all.map(shortly).join('; ')}`);
}

function restartsOf(all: readonly Pod[]): readonly number[] {
  return all.map(({ status }) => status?.containerStatuses?.[0]?.restartCount ?? -1);
}

/** As the machine sees them: who serves a pod's page. */
function servers(pod: Pod): readonly string[] {
  return processesNaming(pod.metadata.uid ?? '').filter((line) => /^\d+ busybox httpd /.test(line));
}

/** What a pod's volume holds, as a pod of any node reads it at that pod's address. */
async function startsOf(pod: Pod, reader: Pod): Promise<string> {
  const ask = `printf 'GET /starts HTTP/1.0\\r\\n\\r\\n' | busybox nc ${pod.status?.podIP} 80`;
  const command = ['exec', reader.metadata.name ?? '', '--', '/bin/sh', '-c', ask];
  const { code, stdout, stderr } = await plane.kubectl(command);
  assert.equal(code, 0, stderr);
  return stdout.split('\r\n\r\n')[1] ?? '';
}

test('each node has its name, its zone and its own addresses, and their pods reach each other', async () => {
  const all = await readyOn(...names);
  const [first, second, third] = names;
  assert.deepEqual([second, third], [`${first}-2`, `${first}-3`]);
  const { items } = await (await plane.client()).list(nodes);
  const zones = items.map(({ metadata }) => metadata.labels?.['topology.kubernetes.io/zone']);
  assert.deepEqual(zones, ['a', 'b', 'a']);
  for (const { metadata, spec } of items) {
    const network = spec?.podCIDR?.replace('0/24', '') ?? 'none';
    for (const pod of on(all, metadata.name ?? '')) assert.ok(pod.status?.podIP?.startsWith(network), shortly(pod));
  }
  const [target, reader] = [firstOn(all, third), firstOn(all, first)];
  assert.equal(await startsOf(target, reader), `${target.metadata.name} started\n`);
});

test('N62 a node that is stopped loses its processes and nothing else; when it starts, its pods go on from their volumes', async () => {
  const [first, second, third] = names;
  const before = await readyOn(...names);
  const lost = firstOn(before, third);
  assert.equal(servers(lost).length, 1);
  assert.deepEqual(
    (await node('stop', third)).map(({ isRunning }) => isRunning),
    [true, true, false],
  );
  assert.deepEqual(on(before, third).flatMap(servers), []);
  const then = await webPods();
  assert.deepEqual(on(then, third), on(before, third), 'nobody told the API server');
  assert.equal(servers(firstOn(before, first)).length, 1);
  const { code, stderr } = await plane.kubectl(['logs', lost.metadata.name ?? '']);
  assert.notEqual(code, 0);
  assert.match(stderr, new RegExp(`node "${third}" is stopped; next: castellan node start ${third}`));
  const gone = on(before, third)[1] ?? assert.fail('one pod only on the third node');
  const forced = ['delete', 'pod', gone.metadata.name ?? '', '--force', '--grace-period=0', '--wait=false'];
  assert.equal((await plane.kubectl(forced)).code, 0);
  await node('start', third);
  const key = { namespace: 'default', name: lost.metadata.name ?? '' };
  const again = await waitFor(
    world,
    async () => {
      // Until the node comes to it, the API server has it as it was.
      const pod = await (await plane.client()).get(pods, key);
      return isReady(pod) && restartsOf([pod])[0] !== 0 ? pod : undefined;
    },
    { what: `pod ${key.name} to be ready again`, deadlineMs: 30_000 },
  );
  assert.equal(again.metadata.uid, lost.metadata.uid);
  assert.deepEqual(restartsOf([again]), [1]);
  const afterwards = await readyOn(...names);
  assert.equal(again.status?.podIP, lost.status?.podIP);
  const { name } = lost.metadata;
  assert.equal(await startsOf(again, firstOn(afterwards, second)), `${name} started\n${name} started\n`);
  const files = join(plane.directory, 'pods', gone.metadata.uid ?? '');
  await waitFor(world, () => !existsSync(files), {
    what: 'the files of the pod to be removed that was deleted meanwhile',
    deadlineMs: 30_000,
  });
});

test('drain moves the pods of a node to the others', async () => {
  const [first, second, third] = names;
  const drained = await plane.kubectl([
    'drain',
    second,
    '--ignore-daemonsets',
    '--delete-emptydir-data',
    '--timeout=60s',
  ]);
  assert.equal(drained.code, 0, drained.stdout + drained.stderr);
  await readyOn(first, third);
  assert.equal((await plane.kubectl(['uncordon', second])).code, 0);
});

test('after the kill of the plane the pods of every node run on, and a node that was off stays off', async () => {
  const [first, , third] = names;
  const before = await readyOn(first, third);
  await node('stop', names[1]);
  const running = before.flatMap(servers);
  assert.equal(running.length, 6);
  await plane.kill();
  assert.deepEqual(before.flatMap(servers), running);
  await plane.up(['--operators', 'none']);
  for (const { metadata } of before) {
    const log = `/api/v1/namespaces/default/pods/${metadata.name}/log`;
    const isAdopted = async () => (await plane.read(log)).status === 200;
    await waitFor(world, isAdopted, { what: `${metadata.name} to be adopted`, deadlineMs: 30_000 });
  }
  const afterwards = await readyOn(first, third);
  assert.deepEqual(restartsOf(afterwards), restartsOf(before));
  assert.deepEqual(before.flatMap(servers), running);
  assert.deepEqual(
    (await node('ls')).map(({ isRunning }) => isRunning),
    [true, false, true],
  );
});
