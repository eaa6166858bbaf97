import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { after, before, test } from 'node:test';
import type { Client } from '@castellan/client';
import { controllerRevisions, type Pod, persistentVolumeClaims, pods, statefulSets } from '@castellan/machinery';
import { waitFor } from '@castellan/world';
import { kubectlPrograms } from './kubectl-programs.js';
import { PlaneProcess, world } from './plane-process.js';

const [program = ''] = [...(await kubectlPrograms()).values()].slice(-1);
const skip =
  program === ''
    ? 'no kubectl of 1.28 or later is on this machine'
    : existsSync('/usr/bin/etcd')
      ? false
      : 'no etcd on this machine: apt-get install etcd-server etcd-client';
let plane: PlaneProcess;
let client: Client;

/** Each pod is an etcd of its own, which keeps what it is told in its claim. */
const manifest = `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  replicas: 2
  serviceName: db
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec:
      terminationGracePeriodSeconds: 5
      containers:
      - name: etcd
        image: etcd:3.4
        command: [etcd, --data-dir=/data/etcd, --listen-client-urls=http://0.0.0.0:2379, --advertise-client-urls=http://127.0.0.1:2379]
        env: [{name: ROUND, value: first}]
        readinessProbe: {tcpSocket: {port: 2379}, periodSeconds: 1}
        volumeMounts: [{name: data, mountPath: /data}]
  volumeClaimTemplates:
  - metadata: {name: data}
    spec:
      accessModes: [ReadWriteOnce]
      resources: {requests: {storage: 16Mi}}
`;

before(async () => {
  if (skip !== false) return;
  plane = await PlaneProcess.create();
  await plane.up(['--operators', 'none']);
  client = await plane.client();
});
after(async () => {
  if (skip === false) await plane.remove();
});

async function kubectl(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await plane.kubectl(args, { program });
  assert.equal(code, 0, `kubectl ${args.join(' ')}:\n${stdout}${stderr}`);
  return stdout.trim();
}

const key = (name: string) => ({ namespace: 'default', name });
const put = (pod: string, value: string) => kubectl('exec', pod, '--', 'etcdctl', 'put', 'city', value);
const get = (pod: string) => kubectl('exec', pod, '--', 'etcdctl', 'get', 'city', '--print-value-only');
const rolledOut = () => kubectl('rollout', 'status', 'sts/db', '--timeout=60s');
const roundOf = (pod: Pod | undefined) => pod?.spec?.containers[0]?.env?.[0]?.value;

async function rounds(): Promise<string> {
  const { items } = await client.list(pods, { namespace: 'default' });
  return items.map(roundOf).join();
}

async function until(what: string, condition: () => Promise<boolean>): Promise<void> {
  await waitFor(world, condition, { what, deadlineMs: 60_000, everyMs: 50 });
}

test('each pod of a StatefulSet keeps its data over scaling down and up', { skip }, async () => {
  await plane.apply({ text: manifest });
  assert.match(await rolledOut(), /partitioned roll out complete: 2 new pods have been updated/);
  await put('db-0', 'Oslo');
  await put('db-1', 'Lima');
  await kubectl('scale', 'sts/db', '--replicas=1');
  await until('pod db-1 to be gone', async () => (await client.find(pods, key('db-1'))) === undefined);
  const claim = await client.get(persistentVolumeClaims, key('data-db-1'));
  assert.equal(claim.status?.phase, 'Bound');
  await kubectl('scale', 'sts/db', '--replicas=2');
  await rolledOut();
  assert.deepEqual([await get('db-0'), await get('db-1')], ['Oslo', 'Lima']);
});

test('an update goes from the last pod to the partition, then to the first; undo goes back; the data stays', {
  skip,
}, async () => {
  const partition = (ordinal: number) => `{"spec":{"updateStrategy":{"rollingUpdate":{"partition":${ordinal}}}}}`;
  const uidOf = async (name: string) => (await client.get(pods, key(name))).metadata.uid;
  const before = await uidOf('db-0');
  await kubectl('patch', 'sts/db', '-p', partition(1));
  await kubectl('set', 'env', 'sts/db', 'ROUND=second');
  assert.match(await rolledOut(), /partitioned roll out complete: 1 new pods have been updated/);
  assert.deepEqual([await rounds(), await uidOf('db-0')], ['first,second', before]);
  await kubectl('patch', 'sts/db', '-p', partition(0));
  await rolledOut();
  assert.equal(await rounds(), 'second,second');
  await kubectl('rollout', 'undo', 'sts/db');
  await until('both pods to be of the first round', async () => (await rounds()) === 'first,first');
  await rolledOut();
  const { items } = await client.list(controllerRevisions, { namespace: 'default' });
  assert.deepEqual(items.map(({ revision }) => revision).sort(), [2, 3]);
  assert.deepEqual([await get('db-0'), await get('db-1')], ['Oslo', 'Lima']);
});

test('a StatefulSet that is deleted leaves its claims, and the next one of its name finds its data', {
  skip,
}, async () => {
  await kubectl('delete', 'sts/db', '--cascade=foreground');
  assert.deepEqual((await client.list(pods, { namespace: 'default' })).items, []);
  assert.equal(await client.find(statefulSets, key('db')), undefined);
  await plane.apply({ text: manifest });
  await rolledOut();
  assert.deepEqual([await get('db-0'), await get('db-1')], ['Oslo', 'Lima']);
});
