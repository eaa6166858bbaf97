import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { endpoints, isStatusError, type Pod, pods } from '@castellan/machinery';
import { waitFor } from '@castellan/world';
import { PlaneProcess, world } from './plane-process.js';

let plane: PlaneProcess;

before(async () => {
  plane = await PlaneProcess.create();
  await plane.up(['--audit-log', join(plane.directory, 'audit.log')]);
});
after(async () => await plane.remove());

const place = '/var/run/secrets/kubernetes.io/serviceaccount';

test('a pod reaches the API server by its name, with the token and the certificate in its files', async () => {
  const client = await plane.client();
  const call = `curl --silent --show-error --max-time 30 --cacert ${place}/ca.crt -H "Authorization: Bearer $(cat ${place}/token)"`;
  const script = [
    `cat ${place}/namespace; echo`,
    `${call} -H 'Content-Type: application/json' -d '{}' https://kubernetes.default.svc/apis/authentication.k8s.io/v1/selfsubjectreviews`,
    `${call} https://kubernetes.default.svc/api/v1/secrets`,
    `${call} https://$KUBERNETES_SERVICE_HOST:$KUBERNETES_SERVICE_PORT/version`,
  ].join('\n');
  const container = { name: 'main', image: 'busybox:1.28', command: ['/bin/sh', '-ec', script] };
  const key = { namespace: 'default', name: 'asks' };
  await waitFor(world, () => created(key, container), { what: 'the pod to be let in', deadlineMs: 30_000 });
  const pod = await waitFor(
    world,
    async () => {
      const seen = await client.get(pods, key);
      return seen.status?.phase === 'Succeeded' || seen.status?.phase === 'Failed' ? seen : undefined;
    },
    { what: 'the pod to end', deadlineMs: 60_000 },
  );
  const { text } = await plane.read('/api/v1/namespaces/default/pods/asks/log');
  assert.equal(pod.status?.phase, 'Succeeded', text);
  assert.match(text, /^default$/m);
  assert.match(text, /"username":"system:serviceaccount:default:default"/);
  assert.match(text, new RegExp(`"authentication.kubernetes.io/pod-uid":\\["${pod.metadata.uid}"\\]`));
  assert.match(text, /User \\"system:serviceaccount:default:default\\" cannot list resource \\"secrets\\"/);
  assert.match(text, /"gitVersion":"v1\./);
});

test('a pod reaches the API server where the Endpoints of its service say, and its certificate is for that address', async () => {
  const client = await plane.client();
  const key = { namespace: 'default', name: 'asks-directly' };
  const subset = await waitFor(
    world,
    async () => (await client.find(endpoints, { namespace: 'default', name: 'kubernetes' }))?.subsets?.[0],
    { what: 'the Endpoints of service kubernetes', deadlineMs: 30_000 },
  );
  const url = `https://${subset.addresses?.[0]?.ip}:${subset.ports?.[0]?.port}/version`;
  const script = `curl --silent --show-error --max-time 30 --cacert ${place}/ca.crt ${url}`;
  const container = { name: 'main', image: 'busybox:1.28', command: ['/bin/sh', '-ec', script] };
  await waitFor(world, () => created(key, container), { what: 'the pod to be let in', deadlineMs: 30_000 });
  const phase = await waitFor(
    world,
    async () => {
      const { status } = await client.get(pods, key);
      return status?.phase === 'Succeeded' || status?.phase === 'Failed' ? status.phase : undefined;
    },
    { what: 'the pod to end', deadlineMs: 60_000 },
  );
  const { text } = await plane.read('/api/v1/namespaces/default/pods/asks-directly/log');
  assert.equal(phase, 'Succeeded', text);
  assert.match(text, /"gitVersion":"v1\./);
});

test('the node agent speaks as its node, of which nothing that it needs is kept', async () => {
  const client = await plane.client();
  const key = { namespace: 'default', name: 'watched' };
  const container = { name: 'main', image: 'busybox:1.28', command: ['/bin/sh', '-c', 'true'] };
  await waitFor(world, () => created(key, container), { what: 'the pod to be let in', deadlineMs: 10_000 });
  await waitFor(world, async () => (await client.get(pods, key)).status?.phase === 'Succeeded', {
    what: 'the pod to end',
    deadlineMs: 30_000,
  });
  const lines = readFileSync(join(plane.directory, 'audit.log'), 'utf8').split('\n').slice(0, -1);
  const events = lines.map((line) => JSON.parse(line));
  const own = events.filter((event) => event.user?.username === `system:node:${hostname().toLowerCase()}`);
  const asked = new Set(
    own.map(({ verb, objectRef }) => `${verb} ${objectRef?.resource}/${objectRef?.subresource ?? ''}`),
  );
  for (const needed of ['create nodes/', 'patch pods/status', 'create serviceaccounts/token', 'create leases/']) {
    assert.ok(asked.has(needed), `no ${needed} among ${[...asked].join(', ')}`);
  }
  assert.deepEqual(
    own.filter(({ responseStatus }) => responseStatus?.code === 403),
    [],
  );
});

/** A plane that is just up may not have made the account by which pods are let in. */
async function created(
  key: { readonly namespace: string; readonly name: string },
  container: NonNullable<Pod['spec']>['containers'][number],
): Promise<boolean> {
  const client = await plane.client();
  try {
    await client.create<Pod>(pods, { metadata: key, spec: { restartPolicy: 'Never', containers: [container] } });
    return true;
  } catch (error) {
    if (isStatusError(error, 'Forbidden')) return false;
    throw error;
  }
}
