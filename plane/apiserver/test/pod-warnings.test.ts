import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type ServerUnderTest, startServer } from './server-under-test.js';

let api: ServerUnderTest;
before(async () => {
  api = await startServer();
  await api.send('POST', '/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' } });
});
after(() => api.stop());

const pods = '/api/v1/namespaces/default/pods?dryRun=All';
const deployments = '/apis/apps/v1/namespaces/default/deployments';
const container = { name: 'c', image: 'registry.example/app:1' };

async function warnings(spec: Record<string, unknown>, metadata: Record<string, unknown> = {}): Promise<string> {
  const body = { metadata: { name: 'a', ...metadata }, spec: { containers: [container], ...spec } };
  const { headers } = await api.send('POST', pods, body);
  return String(headers.warning ?? '');
}

test('a variable that takes the place of another is warned of, and owned as one with it', async () => {
  const env = [
    { name: 'A', value: '1' },
    { name: 'A', value: '2' },
  ];
  const body = { metadata: { name: 'a' }, spec: { containers: [{ ...container, env }] } };
  const { headers, json } = await api.send('POST', pods, body);
  assert.equal(
    headers.warning,
    String.raw`299 - "spec.containers[0].env[1]: hides previous definition of \"A\", which may be dropped when using apply"`,
  );
  const owned = json.metadata.managedFields[0].fieldsV1['f:spec']['f:containers']['k:{"name":"c"}']['f:env'];
  assert.deepEqual(owned, { '.': {}, 'k:{"name":"A"}': {} });
});

test('a variable that builds on the one before it is not warned of', async () => {
  const env = [
    { name: 'A', value: '1' },
    { name: 'A', value: '$(A)2' },
  ];
  assert.equal(await warnings({ containers: [{ ...container, env }] }), '');
});

test('old names of node labels, names that are no host names and parts of bytes are warned of', async () => {
  assert.equal(
    await warnings({ nodeSelector: { 'beta.kubernetes.io/os': 'linux' } }),
    String.raw`299 - "spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use \"kubernetes.io/os\" instead"`,
  );
  const resources = { requests: { memory: '500m' } };
  assert.equal(
    await warnings({ containers: [{ ...container, resources }] }),
    String.raw`299 - "spec.containers[0].resources.requests[memory]: fractional byte value \"500m\" is invalid, must be an integer"`,
  );
  assert.match(
    await warnings({}, { name: 'a.b' }),
    /^299 - "metadata\.name: this is used in the Pod's hostname, which/,
  );
});

test('ports that are the same or overlap are warned of', async () => {
  const ports = [{ containerPort: 80 }, { containerPort: 80, hostPort: 8080 }];
  assert.equal(
    await warnings({ containers: [{ ...container, ports }] }),
    '299 - "spec.containers[0].ports[1]: overlapping port definition with spec.containers[0].ports[0]"',
  );
});

test('templates are warned of like pods, once for each change of the spec', async () => {
  const labels = { app: 'a' };
  const affinity = {
    podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'kubernetes.io/hostname' }] },
  };
  const template = { metadata: { labels }, spec: { containers: [container], affinity } };
  const body = { metadata: { name: 'warned' }, spec: { selector: { matchLabels: labels }, template } };
  const { headers } = await api.send('POST', deployments, body);
  assert.equal(
    headers.warning,
    '299 - "spec.template.spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector: a null labelSelector results in matching no pod"',
  );
  const merge = { 'content-type': 'application/merge-patch+json' };
  const labelled = await api.send('PATCH', `${deployments}/warned`, { metadata: { labels: { x: 'y' } } }, merge);
  assert.equal(labelled.headers.warning, undefined);
});
