import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import {
  events,
  nodes,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type Pod,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
} from '@castellan/machinery';
import { eventually } from '@castellan/testkit';
import { PlaneProcess } from './plane-process.js';

const deadlineMs = 60_000;
const namespace = 'default';
let plane: PlaneProcess;

before(async () => {
  plane = await PlaneProcess.create();
  await plane.up(['--operators', 'none', '--nodes', '2']);
});
after(async () => await plane.remove());

function claimNamed(name: string, storage: string, more = ''): string {
  return `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: ${name}}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: ${storage}}}${more}}
`;
}

/** A pod that adds its name to a file of its claim's volume, tells all that is in the file, and stays. */
function writer(name: string, claim: string): string {
  return `
apiVersion: v1
kind: Pod
metadata: {name: ${name}}
spec:
  terminationGracePeriodSeconds: 1
  containers:
  - name: main
    image: busybox
    command: [/bin/sh, -c, 'echo ${name} >>/data/names; cat /data/names; exec sleep 1000']
    volumeMounts: [{name: data, mountPath: /data}]
  volumes: [{name: data, persistentVolumeClaim: {claimName: ${claim}}}]
`;
}

async function kubectl(args: readonly string[], input?: string): Promise<string> {
  const { code, stdout, stderr } = await plane.kubectl(args, input === undefined ? {} : { input });
  assert.equal(code, 0, stdout + stderr);
  return stdout;
}

const apply = (text: string) => kubectl(['apply', '-f', '-'], text);

async function runs(name: string): Promise<Pod> {
  return await eventually(
    `pod ${name} to be ready`,
    async () => {
      const pod = await (await plane.client()).get(pods, { namespace, name });
      return pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True')
        ? pod
        : undefined;
    },
    { deadlineMs },
  );
}

const logOf = async (name: string) => await kubectl(['logs', name]);

async function claim(name: string): Promise<PersistentVolumeClaim> {
  return await (await plane.client()).get(persistentVolumeClaims, { namespace, name });
}

async function volumeOf(claimName: string): Promise<PersistentVolume> {
  const name = (await claim(claimName)).spec?.volumeName ?? '';
  return await (await plane.client()).get(persistentVolumes, { name });
}

/** Its directories, by the names of volumes. */
function directories(): readonly string[] {
  return readdirSync(join(plane.directory, 'volumes')).filter((name) => name.startsWith('pvc-'));
}

test('a claim waits for its pod, and gets a directory on the node of that pod', async () => {
  await apply(claimNamed('data', '64Mi'));
  const waiting = 'waiting for first consumer to be created before binding';
  await eventually('the claim to wait', async () => (await eventsOf('data')).includes(waiting), { deadlineMs });
  assert.equal((await claim('data')).spec?.storageClassName, 'local');
  await apply(writer('first', 'data'));
  const { spec } = await runs('first');
  const volume = await volumeOf('data');
  assert.match(JSON.stringify(volume.spec?.nodeAffinity), new RegExp(`"values":\\["${spec?.nodeName}"\\]`));
  assert.equal(readFileSync(join(volume.spec?.local?.path ?? '', 'names'), 'utf8'), 'first\n');
  assert.equal(
    await kubectl(['get', 'pvc', 'data', '-o', 'jsonpath={.status.phase} {.status.capacity.storage}']),
    'Bound 64Mi',
  );
});

async function eventsOf(name: string): Promise<readonly string[]> {
  const { items } = await (await plane.client()).list(events, { namespace });
  return items.filter(({ involvedObject }) => involvedObject.name === name).map(({ message }) => message ?? '');
}

test('what a pod has written is there for the next one, which goes where it is, and not elsewhere', async () => {
  const { spec } = await runs('first');
  await kubectl(['delete', 'pod', 'first']);
  await apply(writer('second', 'data'));
  assert.equal((await runs('second')).spec?.nodeName, spec?.nodeName);
  assert.equal(await logOf('second'), 'first\nsecond\n');
  const { items } = await (await plane.client()).list(nodes);
  const other = items.find(({ metadata }) => metadata.name !== spec?.nodeName)?.metadata.name ?? '';
  const elsewhere = writer('stray', 'data').replace(
    'spec:',
    `spec:\n  nodeSelector: {kubernetes.io/hostname: ${other}}`,
  );
  await apply(elsewhere);
  const why =
    "0/2 nodes are available: 1 node(s) didn't match PersistentVolume's node affinity, 1 node(s) didn't match Pod's node affinity/selector.";
  await eventually(
    'the pod to say why it waits',
    async () => (await eventsOf('stray')).some((message) => message.startsWith(why)),
    { deadlineMs },
  );
  await kubectl(['delete', 'pod', 'stray']);
});

test('a claim that asks for more gets it while its pod runs', async () => {
  await kubectl(['patch', 'pvc', 'data', '-p', '{"spec":{"resources":{"requests":{"storage":"128Mi"}}}}']);
  await eventually('the claim to have grown', async () => (await claim('data')).status?.capacity?.storage === '128Mi', {
    deadlineMs,
  });
  assert.equal((await volumeOf('data')).spec?.capacity?.storage, '128Mi');
  assert.equal((await claim('data')).status?.conditions, undefined);
});

test('volumes outlive the plane: killed and started, their pods run on; stopped with its pods and started, they begin anew', async () => {
  await plane.kill();
  await plane.up(['--operators', 'none', '--nodes', '2']);
  await eventually('the pod to run on', async () => (await logOf('second')) === 'first\nsecond\n', { deadlineMs });
  await plane.interrupt();
  await plane.up(['--operators', 'none', '--nodes', '2']);
  await eventually('the pod to have started again', async () => (await logOf('second')).endsWith('second\nsecond\n'), {
    deadlineMs,
  });
});

test('a claim that is too large for the disk says so once, and its pod why it waits', async () => {
  await apply(`${claimNamed('huge', '7Ei')}---${writer('hungry', 'huge')}`);
  const told =
    /^failed to provision volume with StorageClass "local": 7Ei is more than the disk of this node has, which is \d+Mi; next: /;
  await eventually('the claim to say why', async () => (await eventsOf('huge')).some((message) => told.test(message)), {
    deadlineMs,
  });
  const why = 'running PreBind plugin "VolumeBinding": binding volumes: provisioning failed for PVC "huge"';
  await eventually('the pod to say why', async () => (await eventsOf('hungry')).includes(why), { deadlineMs });
  assert.equal((await eventsOf('huge')).filter((message) => told.test(message)).length, 1);
  await kubectl(['delete', 'pod/hungry', 'pvc/huge']);
  assert.equal(directories().length, 1);
});

test('a volume of which the data is to be kept outlives its claim and its object; another goes with its claim', async () => {
  const kept = await volumeOf('data');
  const name = kept.metadata.name ?? '';
  await kubectl(['patch', 'pv', name, '-p', '{"spec":{"persistentVolumeReclaimPolicy":"Retain"}}']);
  await apply(`${claimNamed('brief', '1Mi', ', storageClassName: local-immediate')}`);
  await eventually('the other claim to be bound', async () => (await claim('brief')).status?.phase === 'Bound', {
    deadlineMs,
  });
  assert.equal(directories().length, 2);
  await kubectl(['delete', 'pod/second', 'pvc/data', 'pvc/brief']);
  await eventually('the other volume to be gone', () => directories().join() === name, { deadlineMs });
  const phase = async () => await kubectl(['get', 'pv', '-o', 'jsonpath={.items[*].status.phase}']);
  await eventually('the kept one to be released', async () => (await phase()) === 'Released', { deadlineMs });
  // A person decides that the data is for a new claim.
  await kubectl(['patch', 'pv', name, '--type=json', '-p', '[{"op":"remove","path":"/spec/claimRef"}]']);
  await apply(`${claimNamed('data', '1Mi', `, volumeName: ${name}`)}---${writer('second', 'data')}`);
  await runs('second');
  assert.equal(await logOf('second'), 'first\nsecond\nsecond\nsecond\n');
  await kubectl(['delete', 'pod/second', 'pvc/data', `pv/${name}`]);
  assert.deepEqual(directories(), [name]);
});
