import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type ServerUnderTest, startServer } from './server-under-test.js';

let server: ServerUnderTest;

before(async () => {
  server = await startServer();
});

after(() => server.stop());

async function namespace(name: string, labels: Readonly<Record<string, string>>): Promise<string> {
  const prefixed = Object.entries(labels).map(([key, value]) => [`pod-security.kubernetes.io/${key}`, value]);
  const metadata = { name, labels: Object.fromEntries(prefixed) };
  const created = await server.send('POST', '/api/v1/namespaces', { metadata });
  assert.equal(created.status, 201, created.text);
  const path = `/api/v1/namespaces/${name}`;
  await server.send('POST', `${path}/serviceaccounts`, { metadata: { name: 'default' } });
  return path;
}

const good = {
  securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
  containers: [
    {
      name: 'c',
      image: 'i',
      securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
    },
  ],
};

test('a namespace that enforces a level refuses pods with all their faults, the rules of the baseline first', async () => {
  const path = await namespace('strict', { enforce: 'restricted', 'enforce-version': 'v1.30' });
  assert.equal((await server.send('POST', `${path}/pods`, { metadata: { name: 'good' }, spec: good })).status, 201);
  const spec = {
    hostPID: true,
    securityContext: {
      sysctls: [{ name: 'kernel.shm_rmid_forced', value: '1' }],
      seLinuxOptions: { type: 'x_t' },
      runAsUser: 0,
    },
    volumes: [{ name: 'v', hostPath: { path: '/' } }],
    containers: [
      { name: 'a', image: 'i', securityContext: { capabilities: { add: ['NET_ADMIN'], drop: ['ALL'] } } },
      { name: 'b', image: 'i', securityContext: { runAsNonRoot: false, seccompProfile: { type: 'Unconfined' } } },
    ],
  };
  const refused = await server.send('POST', `${path}/pods`, { metadata: { name: 'bad' }, spec });
  assert.equal(refused.status, 403);
  assert.equal(
    refused.json.message,
    [
      'pods "bad" is forbidden: violates PodSecurity "restricted:v1.30": host namespaces (hostPID=true)',
      'seLinuxOptions (pod set forbidden securityContext.seLinuxOptions: type "x_t")',
      'allowPrivilegeEscalation != false (containers "a", "b" must set securityContext.allowPrivilegeEscalation=false)',
      'unrestricted capabilities (container "b" must set securityContext.capabilities.drop=["ALL"]; container "a" must not include "NET_ADMIN" in securityContext.capabilities.add)',
      'restricted volume types (volume "v" uses restricted volume type "hostPath")',
      'runAsNonRoot != true (container "b" must not set securityContext.runAsNonRoot=false)',
      'runAsUser=0 (pod must not set runAsUser=0)',
      'seccompProfile (container "b" must not set securityContext.seccompProfile.type to "Unconfined")',
    ].join(', '),
  );
});

test('a rule holds from the version on in which it came', async () => {
  const path = await namespace('old', { enforce: 'baseline', 'enforce-version': 'v1.26' });
  const sysctl = (name: string) => ({
    securityContext: { sysctls: [{ name, value: '1' }] },
    containers: [{ name: 'c', image: 'i' }],
  });
  const send = (name: string, at = path) =>
    server.send('POST', `${at}/pods?dryRun=All`, { metadata: { name: 'p' }, spec: sysctl(name) });
  assert.equal((await send('net.ipv4.tcp_syncookies')).status, 201);
  const refused = await send('net.ipv4.ip_local_reserved_ports');
  assert.match(refused.json.message, /"baseline:v1\.26": forbidden sysctls \(net\.ipv4\.ip_local_reserved_ports\)$/);
  const latest = await namespace('new', { enforce: 'baseline' });
  assert.equal((await send('net.ipv4.ip_local_reserved_ports', latest)).status, 201);
});

test('templates are warned of and never refused; a pod in place is judged anew only when its images change', async () => {
  const path = await namespace('warned', { warn: 'baseline' });
  const template = {
    metadata: { labels: { a: 'b' } },
    spec: { hostNetwork: true, containers: [{ name: 'c', image: 'i' }] },
  };
  const deployment = { metadata: { name: 'd' }, spec: { selector: { matchLabels: { a: 'b' } }, template } };
  const deployments = path.replace('/api/v1', '/apis/apps/v1');
  const created = await server.send('POST', `${deployments}/deployments`, deployment);
  assert.equal(created.status, 201, created.text);
  const warning = '299 - "would violate PodSecurity \\"baseline:latest\\": host namespaces (hostNetwork=true)"';
  assert.equal(created.headers.warning, warning);
  const pod = await server.send('POST', `${path}/pods`, { metadata: { name: 'p' }, spec: template.spec });
  assert.equal(pod.headers.warning, warning);
  await server.send(
    'PATCH',
    path,
    { metadata: { labels: { 'pod-security.kubernetes.io/enforce': 'baseline' } } },
    merge,
  );
  const labelled = await server.send('PATCH', `${path}/pods/p`, { metadata: { labels: { x: 'y' } } }, merge);
  assert.equal(labelled.status, 200, labelled.text);
  const images = { spec: { containers: [{ name: 'c', image: 'other' }] } };
  const replaced = await server.send('PATCH', `${path}/pods/p`, images, strategic);
  assert.equal(replaced.status, 403, replaced.text);
});

test('a namespace with labels that say nothing is refused; one that gets stricter tells of its pods', async () => {
  const path = await namespace('tightened', {});
  for (const name of ['b', 'a', 'c']) {
    const spec = { hostIPC: name !== 'c', containers: [{ name: 'c', image: 'i' }] };
    await server.send('POST', `${path}/pods`, { metadata: { name }, spec });
  }
  const label = (key: string, value: string) =>
    server.send('PATCH', path, { metadata: { labels: { [`pod-security.kubernetes.io/${key}`]: value } } }, merge);
  const refused = await label('audit-version', '1.30');
  assert.equal(refused.status, 422);
  assert.equal(
    refused.json.message,
    'Namespace "tightened" is invalid: metadata.labels[pod-security.kubernetes.io/audit-version]: Invalid value: "1.30": must be "latest" or "v1.x"',
  );
  assert.equal((await label('audit', 'restricted')).headers.warning, undefined);
  const tightened = await label('enforce', 'baseline');
  assert.equal(
    tightened.headers.warning,
    '299 - "existing pods in namespace \\"tightened\\" violate the new PodSecurity enforce level \\"baseline:latest\\"", 299 - "a (and 1 other pod): host namespaces"',
  );
});

const merge = { 'content-type': 'application/merge-patch+json' };
const strategic = { 'content-type': 'application/strategic-merge-patch+json' };
