import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:https';
import { after, before, test } from 'node:test';
import { type ServerUnderTest, startServer } from './server-under-test.js';

// biome-ignore lint/suspicious/noExplicitAny: tests look into requests of every shape
type Hook = (request: any) => Record<string, unknown> | 'silence';

let server: ServerUnderTest;
let hooks: Server;
let hookUrl: string;
let answer: Hook = () => ({ allowed: true });
const asked: string[] = [];

before(async () => {
  server = await startServer();
  const { serverKey, serverCertificate } = server.certificates;
  hooks = createServer({ key: serverKey, cert: serverCertificate }, (request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      const review = JSON.parse(body);
      asked.push(`${request.url?.split('?')[0]} ${review.request.operation} ${review.request.name}`);
      const result = answer({ ...review.request, url: request.url });
      if (result === 'silence') return;
      const reply = { uid: review.request.uid, ...result };
      response.end(JSON.stringify({ apiVersion: review.apiVersion, kind: review.kind, response: reply }));
    });
  });
  await new Promise<void>((resolve) => hooks.listen(0, '127.0.0.1', resolve));
  const address = hooks.address();
  assert.ok(typeof address === 'object' && address !== null);
  hookUrl = `https://127.0.0.1:${address.port}`;
});

after(async () => {
  hooks.closeAllConnections();
  hooks.close();
  await server.stop();
});

/** A configuration with one webhook for ConfigMaps of a namespace of its own, of which the server has heard. */
async function configure(type: 'mutating' | 'validating', name: string, webhook: Record<string, unknown> = {}) {
  await server.send('POST', '/api/v1/namespaces', { metadata: { name } });
  const created = await server.send('POST', `/apis/admissionregistration.k8s.io/v1/${type}webhookconfigurations`, {
    metadata: { name },
    webhooks: [
      {
        name: `${name}.example.com`,
        clientConfig: {
          url: `${hookUrl}/${name}`,
          caBundle: Buffer.from(server.certificates.caCertificate).toString('base64'),
        },
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        timeoutSeconds: 20,
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': name } },
        rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE', 'DELETE'], resources: ['configmaps'] }],
        ...webhook,
      },
    ],
  });
  assert.equal(created.status, 201, created.text);
  const path = `/api/v1/namespaces/${name}/configmaps`;
  const deadline = Date.now() + 30_000;
  while (!asked.some((line) => line.startsWith(`/${name} `)) && webhook.matchConditions === undefined) {
    assert.ok(Date.now() < deadline, 'waited 30 s: the webhook is asked');
    await server.send('POST', `${path}?dryRun=All`, { metadata: { name: 'probe' } });
  }
  return (metadata: Record<string, unknown>, query = '') => server.send('POST', `${path}${query}`, { metadata });
}

test('a mutating webhook changes what is stored, and its warnings reach the client', async () => {
  const patch = Buffer.from(JSON.stringify([{ op: 'add', path: '/data', value: { by: 'hook' } }])).toString('base64');
  answer = () => ({ allowed: true, patchType: 'JSONPatch', patch, warnings: ['mind the gap'] });
  const create = await configure('mutating', 'mutate');
  const created = await create({ name: 'a' });
  assert.deepEqual(created.json.data, { by: 'hook' });
  assert.equal(created.headers.warning, '299 - "mind the gap"');
});

test('a validating webhook refuses in its own words, deletes as well', async () => {
  answer = (request) =>
    request.operation === 'DELETE'
      ? { allowed: false, status: { message: 'it stays', code: 403 } }
      : { allowed: request.name !== 'bad', status: { message: 'no bad names' } };
  const create = await configure('validating', 'judge');
  assert.equal((await create({ name: 'good' })).status, 201);
  const refused = await create({ name: 'bad' });
  assert.equal(refused.status, 400);
  assert.equal(refused.json.message, 'admission webhook "judge.example.com" denied the request: no bad names');
  const kept = await server.send('DELETE', '/api/v1/namespaces/judge/configmaps/good');
  assert.equal(kept.status, 403);
});

test('a webhook that does not answer in time fails the request, or is passed over where its policy says so', async () => {
  answer = () => 'silence';
  const strict = await configure('validating', 'strict', { timeoutSeconds: 1 });
  const failed = await strict({ name: 'a' });
  assert.equal(failed.status, 500);
  assert.match(failed.json.message, /failed calling webhook "strict.example.com": .*context deadline exceeded/);
  const lenient = await configure('validating', 'lenient', { failurePolicy: 'Ignore', timeoutSeconds: 1 });
  assert.equal((await lenient({ name: 'a' })).status, 201);
});

test('a webhook is asked only when its match conditions hold', async () => {
  answer = () => ({ allowed: false, status: { message: 'hit' } });
  const matchConditions = [{ name: 'named', expression: 'object.metadata.name == "hit"' }];
  const create = await configure('validating', 'picky', { matchConditions });
  const deadline = Date.now() + 30_000;
  while ((await create({ name: 'hit' }, '?dryRun=All')).status !== 400) {
    assert.ok(Date.now() < deadline, 'waited 30 s: the webhook refuses');
  }
  assert.equal((await create({ name: 'miss' })).status, 201);
});

test('a webhook with an unknown certificate is not believed', async () => {
  answer = () => ({ allowed: true });
  const create = await configure('validating', 'pinned');
  const config = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/pinned';
  const { json } = await server.send('GET', config);
  delete json.webhooks[0].clientConfig.caBundle;
  assert.equal((await server.send('PUT', config, json)).status, 200);
  const deadline = Date.now() + 30_000;
  while ((await create({ generateName: 'a' }, '?dryRun=All')).status !== 500) {
    assert.ok(Date.now() < deadline, 'waited 30 s: the webhook is no longer believed');
  }
});

test('a webhook hears of writes in other versions, in the version that it names, unless it wants them exact', async () => {
  const configMapRule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] };
  const scalerRule = {
    apiGroups: ['autoscaling'],
    apiVersions: ['v2'],
    operations: ['CREATE'],
    resources: ['horizontalpodautoscalers'],
  };
  const patch = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64');
  const seen: unknown[] = [];
  answer = ({ kind, requestKind, requestResource, object }) => {
    if (kind.kind !== 'HorizontalPodAutoscaler') return { allowed: true };
    seen.push({ kind, requestKind, requestResource, object: object.apiVersion, metrics: object.spec.metrics });
    const target = { op: 'replace', path: '/spec/metrics/0/resource/target/averageUtilization', value: 70 };
    return { allowed: true, patchType: 'JSONPatch', patch: patch([target]) };
  };
  await configure('mutating', 'equivalent', { rules: [configMapRule, scalerRule] });
  await configure('mutating', 'exact', { rules: [configMapRule, scalerRule], matchPolicy: 'Exact' });
  const scaler = {
    metadata: { name: 'a' },
    spec: {
      maxReplicas: 3,
      targetCPUUtilizationPercentage: 50,
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' },
    },
  };
  const create = (namespace: string) =>
    server.send('POST', `/apis/autoscaling/v1/namespaces/${namespace}/horizontalpodautoscalers`, scaler);
  const changed = await create('equivalent');
  assert.equal(changed.status, 201, changed.text);
  assert.equal(changed.json.apiVersion, 'autoscaling/v1');
  assert.equal(changed.json.spec.targetCPUUtilizationPercentage, 70);
  assert.equal((await create('exact')).json.spec.targetCPUUtilizationPercentage, 50);
  assert.deepEqual(seen, [
    {
      kind: { group: 'autoscaling', version: 'v2', kind: 'HorizontalPodAutoscaler' },
      requestKind: { group: 'autoscaling', version: 'v1', kind: 'HorizontalPodAutoscaler' },
      requestResource: { group: 'autoscaling', version: 'v1', resource: 'horizontalpodautoscalers' },
      object: 'autoscaling/v2',
      metrics: [
        { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } },
      ],
    },
  ]);
});
