import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type ServerUnderTest, startServer } from './server-under-test.js';

let server: ServerUnderTest;

before(async () => {
  server = await startServer();
});

after(() => server.stop());

async function namespace(name: string): Promise<string> {
  await server.send('POST', '/api/v1/namespaces', { metadata: { name } });
  const path = `/api/v1/namespaces/${name}`;
  await server.send('POST', `${path}/serviceaccounts`, { metadata: { name: 'default' } });
  return path;
}

const container = { name: 'c', image: 'i' };

test('a pod gets its priority, tolerations of an absent node, and an account that must be there', async () => {
  const pods = `${await namespace('plain')}/pods`;
  const pod = await server.send('POST', pods, {
    metadata: { name: 'a' },
    spec: { containers: [container], priorityClassName: 'system-node-critical' },
  });
  assert.equal(pod.status, 201, pod.text);
  assert.equal(pod.json.spec.priority, 2000001000);
  assert.equal(pod.json.spec.serviceAccountName, 'default');
  assert.deepEqual(
    pod.json.spec.tolerations.map(({ key }: { key: string }) => key),
    ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'],
  );
  const refused = await server.send('POST', pods, {
    metadata: { name: 'b' },
    spec: { containers: [container], serviceAccountName: 'nosuch' },
  });
  assert.equal(refused.status, 403);
  assert.equal(
    refused.json.message,
    'pods "b" is forbidden: error looking up service account plain/nosuch: serviceaccount "nosuch" not found',
  );
});

test('a quota refuses what exceeds it, and has room again after a delete', async () => {
  const path = await namespace('limited');
  const quota = { metadata: { name: 'q' }, spec: { hard: { configmaps: '1', 'requests.cpu': '1' } } };
  await server.send('POST', `${path}/resourcequotas`, quota);
  const create = (name: string) => server.send('POST', `${path}/configmaps`, { metadata: { name } });
  assert.equal((await create('a')).status, 201);
  const refused = await create('b');
  assert.equal(refused.status, 403);
  assert.equal(
    refused.json.message,
    'configmaps "b" is forbidden: exceeded quota: q, requested: configmaps=1, used: configmaps=1, limited: configmaps=1',
  );
  await server.send('DELETE', `${path}/configmaps/a`);
  assert.equal((await create('b')).status, 201);
  const pod = (cpu: string) =>
    server.send('POST', `${path}/pods`, {
      metadata: { generateName: 'p' },
      spec: { containers: [{ ...container, resources: { requests: { cpu } } }] },
    });
  assert.equal((await pod('600m')).status, 201);
  assert.match((await pod('500m')).json.message, /requested: requests.cpu=500m, used: requests.cpu=600m/);
});

test('of writers that share the rest of a quota only as many get through as there is room for', async () => {
  const path = await namespace('shared');
  await server.send('POST', `${path}/resourcequotas`, { metadata: { name: 'q' }, spec: { hard: { configmaps: '5' } } });
  const names = Array.from({ length: 20 }, (_, index) => `c${index}`);
  const replies = await Promise.all(
    names.map((name) => server.send('POST', `${path}/configmaps`, { metadata: { name } })),
  );
  assert.equal(replies.filter(({ status }) => status === 201).length, 5);
  assert.equal(replies.filter(({ status }) => status === 403).length, 15);
});

test('a limit range fills in what a container does not say, and refuses what is too much', async () => {
  const path = await namespace('ranged');
  const limits = [{ type: 'Container', default: { cpu: '500m' }, defaultRequest: { cpu: '100m' }, max: { cpu: '1' } }];
  const range = await server.send('POST', `${path}/limitranges`, { metadata: { name: 'l' }, spec: { limits } });
  assert.equal(range.status, 201, range.text);
  const pod = await server.send('POST', `${path}/pods`, { metadata: { name: 'a' }, spec: { containers: [container] } });
  assert.deepEqual(pod.json.spec.containers[0].resources, { limits: { cpu: '500m' }, requests: { cpu: '100m' } });
  const greedy = { ...container, resources: { limits: { cpu: '2' }, requests: { cpu: '1' } } };
  const refused = await server.send('POST', `${path}/pods`, {
    metadata: { name: 'b' },
    spec: { containers: [greedy] },
  });
  assert.equal(refused.status, 403);
  assert.equal(refused.json.message, 'pods "b" is forbidden: maximum cpu usage per Container is 1, but limit is 2');
});

test('a claim without a class gets the default one', async () => {
  const metadata = { name: 'fast', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } };
  await server.send('POST', '/apis/storage.k8s.io/v1/storageclasses', { metadata, provisioner: 'x.example/y' });
  const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
  const path = `${await namespace('claims')}/persistentvolumeclaims`;
  const created = await server.send('POST', path, { metadata: { name: 'a' }, spec: claim });
  assert.equal(created.json.spec.storageClassName, 'fast', created.text);
  const none = await server.send('POST', path, { metadata: { name: 'b' }, spec: { ...claim, storageClassName: '' } });
  assert.equal(none.json.spec.storageClassName, '');
});

test('the namespaces that every cluster has stay', async () => {
  const refused = await server.send('DELETE', '/api/v1/namespaces/kube-system');
  assert.equal(refused.status, 403);
  assert.equal(refused.json.message, 'namespaces "kube-system" is forbidden: this namespace may not be deleted');
});
