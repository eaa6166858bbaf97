import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Pod, pods } from '@castellan/machinery';
import { waitFor } from '@castellan/world';
import { clusterKey, memberPods, seedManifest, waitForMembers } from './etcd-instance.js';
import { PlaneProcess, world } from './plane-process.js';

let plane: PlaneProcess;

before(async () => {
  plane = await PlaneProcess.create();
  await plane.up();
  await plane.apply({ file: seedManifest });
  await waitForMembers(await plane.client(), 3);
});
after(async () => await plane.remove());

/** Runs a shell script in a pod of its own and gives back what it printed. */
async function inPod(name: string, image: string, script: string): Promise<string> {
  const client = await plane.client();
  const container = { name: 'main', image, command: ['/bin/sh', '-ec', script] };
  await client.create<Pod>(pods, {
    metadata: { namespace: 'default', name },
    spec: { restartPolicy: 'Never', containers: [container] },
  });
  const pod = await waitFor(
    world,
    async () => {
      const seen = await client.get(pods, { namespace: 'default', name });
      return seen.status?.phase === 'Succeeded' || seen.status?.phase === 'Failed' ? seen : undefined;
    },
    { what: `pod ${name} to end`, deadlineMs: 60_000 },
  );
  const { text } = await plane.read(`/api/v1/namespaces/default/pods/${name}/log`);
  assert.equal(pod.status?.phase, 'Succeeded', `${name}: ${text}${JSON.stringify(pod.status)}`);
  return text;
}

test("the seed's DNS names lead to the members from any pod, in short form and in full", async () => {
  const client = await plane.client();
  const members = await memberPods(client);
  const [member] = members;
  const name = member?.metadata.name ?? '';
  const short = `${name}.${clusterKey.name}`;
  const printed = await inPod(
    'asks-dns',
    'busybox:1.28',
    [short, `${short}.default.svc`, `${short}.default.svc.cluster.local`].map((each) => `nslookup ${each}`).join('\n'),
  );
  const address = member?.status?.podIP ?? '';
  assert.equal(printed.split(address).length - 1, 3, printed);
  const all = await inPod('asks-for-all', 'busybox:1.28', `nslookup ${clusterKey.name}.default.svc.cluster.local`);
  for (const each of members) assert.ok(all.includes(each.status?.podIP ?? 'no address'), all);
});

test('a pod writes through the client service by its name and reads back from one member', async () => {
  const service = `http://${clusterKey.name}-client:2379`;
  const [member] = await memberPods(await plane.client());
  const url = `http://${member?.metadata.name}.${clusterKey.name}.default.svc:2379`;
  const printed = await inPod(
    'writes',
    'quay.io/coreos/etcd:v3.4.23',
    `export ETCDCTL_API=3
     etcdctl --endpoints=${service} put from/a-pod hello
     etcdctl --endpoints=${url} get from/a-pod --print-value-only`,
  );
  assert.match(printed, /OK\s+hello/);
});

test('a pod has its own host name, address and processes, and cannot write where its image is', async () => {
  const printed = await inPod(
    'looks-around',
    'busybox:1.28',
    'hostname; cat /etc/resolv.conf; ls /proc | grep -c "^[0-9]*$"; touch /usr/bin/x 2>/dev/null && echo WRITABLE || true',
  );
  assert.match(printed, /^looks-around$/m);
  assert.match(printed, /search default\.svc\.cluster\.local svc\.cluster\.local cluster\.local/);
  const processes = Number(/^\d+$/m.exec(printed)?.[0]);
  assert.ok(processes > 0 && processes < 12, `${processes} processes are seen from inside`);
  assert.ok(!printed.includes('WRITABLE'));
});
