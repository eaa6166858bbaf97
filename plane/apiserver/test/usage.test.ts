import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { UsageSource } from '../src/index.js';
import { startServer } from './server-under-test.js';

const base = '/apis/metrics.k8s.io/v1beta1';
const atMs = Date.parse('2026-01-01T00:00:10.900Z');
const used = (cores: number, memoryBytes: number) => ({ cores, memoryBytes, atMs, windowMs: 15_250 });

const measured = [
  {
    name: 'node-1',
    usage: used(1.5, 2 ** 30),
    pods: [
      {
        namespace: 'default',
        name: 'web',
        containers: [
          { name: 'main', usage: used(0.25, 5 * 2 ** 20) },
          { name: 'side', usage: used(0.000_001, 1_536) },
        ],
      },
      { namespace: 'default', name: 'gone', containers: [{ name: 'main', usage: used(1, 1) }] },
    ],
  },
];

async function serverWith(usage: UsageSource | undefined) {
  const server = await startServer(usage === undefined ? {} : { usage });
  const spec = { containers: [{ name: 'main', image: 'web' }] };
  await server.send('POST', '/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' } });
  for (const name of ['web', 'new']) {
    const metadata = { name, labels: { app: name } };
    const made = await server.send('POST', '/api/v1/namespaces/default/pods', { metadata, spec });
    assert.equal(made.status, 201, made.text);
  }
  for (const name of ['node-1', 'node-2']) await server.send('POST', '/api/v1/nodes', { metadata: { name } });
  return server;
}

test('pods and nodes of which something was measured are told as metrics-server tells them', async (t) => {
  const server = await serverWith(async () => measured);
  t.after(() => server.stop());
  const pods = await server.send('GET', `${base}/namespaces/default/pods`);
  assert.deepEqual(pods.json, {
    kind: 'PodMetricsList',
    apiVersion: 'metrics.k8s.io/v1beta1',
    metadata: {},
    items: [
      {
        metadata: {
          name: 'web',
          namespace: 'default',
          creationTimestamp: '2026-01-01T00:00:10Z',
          labels: { app: 'web' },
        },
        timestamp: '2026-01-01T00:00:10Z',
        window: '15.25s',
        containers: [
          { name: 'main', usage: { cpu: '250000000n', memory: '5120Ki' } },
          { name: 'side', usage: { cpu: '1000n', memory: '1Ki' } },
        ],
      },
    ],
  });
  const node = await server.send('GET', `${base}/nodes/node-1`);
  assert.equal(node.json.kind, 'NodeMetrics');
  assert.deepEqual(node.json.usage, { cpu: '1500000000n', memory: '1048576Ki' });
  const table = await server.send('GET', `${base}/pods?labelSelector=app%3Dweb`, undefined, {
    accept: 'application/json;as=Table;v=v1;g=meta.k8s.io',
  });
  assert.deepEqual(table.json.rows[0].cells, ['web', '250001000n', '5121Ki', '15.25s']);
});

test('selectors and namespaces are those of the pods', async (t) => {
  const server = await serverWith(async () => measured);
  t.after(() => server.stop());
  const names = async (path: string) => {
    const { json } = await server.send('GET', `${base}${path}`);
    return json.items.map((item: { metadata: { name: string } }) => item.metadata.name);
  };
  assert.deepEqual(await names('/pods'), ['web']);
  assert.deepEqual(await names('/pods?labelSelector=app%3Dnew'), []);
  assert.deepEqual(await names('/pods?fieldSelector=metadata.name%3Dweb'), ['web']);
  assert.deepEqual(await names('/namespaces/other/pods'), []);
  assert.deepEqual(await names('/nodes'), ['node-1']);
});

test('what is not there, was not measured yet, or cannot be asked, is told apart', async (t) => {
  const server = await serverWith(async () => measured);
  t.after(() => server.stop());
  const refused = async (method: string, path: string) => {
    const { status, json } = await server.send(method, `${base}${path}`);
    return `${status} ${json.message}`;
  };
  assert.equal(await refused('GET', '/namespaces/default/pods/none'), '404 pods "none" not found');
  assert.equal(
    await refused('GET', '/namespaces/default/pods/new'),
    '404 podmetrics.metrics.k8s.io "default/new" not found',
  );
  assert.equal(await refused('GET', '/nodes/node-2'), '404 nodemetrics.metrics.k8s.io "node-2" not found');
  assert.equal(
    await refused('DELETE', '/nodes/node-1'),
    '405 the server does not allow this method on the requested resource',
  );
  assert.equal(await refused('GET', '/services'), '404 the server could not find the requested resource');
  const broken = await serverWith(async () => {
    throw new Error('the machine is not started');
  });
  t.after(() => broken.stop());
  const { status, json } = await broken.send('GET', `${base}/nodes`);
  assert.deepEqual(
    [status, json.message],
    [503, 'the server is currently unable to handle the request: the machine is not started'],
  );
});

test('discovery tells of metrics only where there are nodes to ask', async (t) => {
  const groups = async (usage: UsageSource | undefined) => {
    const server = await serverWith(usage);
    t.after(() => server.stop());
    const { json } = await server.send('GET', '/apis');
    return json.groups.filter(({ name }: { name: string }) => name === 'metrics.k8s.io').length;
  };
  assert.deepEqual([await groups(undefined), await groups(async () => [])], [0, 1]);
});
