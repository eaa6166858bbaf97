import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type FakeNode, fakeNode } from './fake-node.js';
import { type ServerUnderTest, startServer } from './server-under-test.js';
import { upgrade, webSocketHeaders } from './upgraded-connection.js';

const root = '/api/v1/namespaces/default';
let api: ServerUnderTest;
let node: FakeNode;
before(async () => {
  node = await fakeNode();
  api = await startServer({ nodeStreams: node });
  const containers = [{ name: 'main', image: 'x', ports: [{ containerPort: 8080 }] }];
  await api.send('POST', `${root}/pods`, { metadata: { name: 'p' }, spec: { nodeName: 'n1', containers } });
  const ports = [
    { name: 'web', port: 81, targetPort: 8080 },
    { name: 'off', port: 82, targetPort: 9 },
  ];
  for (const name of ['s', 'empty'])
    await api.send('POST', `${root}/services`, { metadata: { name }, spec: { ports } });
  await api.send('POST', '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices', {
    metadata: { name: 's-1', labels: { 'kubernetes.io/service-name': 's' } },
    addressType: 'IPv4',
    ports: [
      { name: 'web', port: 8080 },
      { name: 'off', port: 9 },
    ],
    endpoints: [{ addresses: ['10.0.0.9'], conditions: { ready: true }, targetRef: { kind: 'Pod', name: 'p' } }],
  });
});
after(async () => {
  await api.stop();
  await node.close();
});

test('a request goes to the port of a pod as it came, without what is between the client and us', async () => {
  const headers = { accept: 'text/html', 'x-mine': 'a', authorization: 'Basic eDp5' };
  const reply = await api.send('PUT', `${root}/pods/p:80/proxy/a%2Fb/?dryRun=what&x=1`, 'body', headers);
  assert.equal(reply.status, 200);
  assert.equal(reply.headers['x-own'], 'yes');
  assert.equal(reply.headers['content-type'], 'text/plain');
  assert.equal(reply.json.method, 'PUT');
  assert.equal(reply.json.url, '/a%2Fb/?dryRun=what&x=1');
  assert.equal(reply.json.body, 'body');
  assert.equal(reply.json.headers['x-mine'], 'a');
  assert.equal(reply.json.headers.authorization, undefined);
  assert.equal((await api.send('DELETE', `${root}/pods/p/proxy/`)).status, 418);
});

test('pages stay below the proxy: its root ends with a slash, and where they lead is put behind it', async () => {
  const bare = await api.send('GET', `${root}/pods/p/proxy?a=b`);
  assert.equal(bare.status, 301);
  assert.equal(bare.headers.location, `${root}/pods/p/proxy/?a=b`);
  const moved = await api.send('GET', `${root}/pods/p/proxy/moved`);
  assert.equal(moved.status, 302);
  assert.equal(moved.headers.location, `${root}/pods/p/proxy/there`);
});

test('a service leads to a ready endpoint of the port that is named or numbered', async () => {
  for (const name of ['s:web', 's:81', 'http:s:web']) {
    const reply = await api.send('GET', `${root}/services/${name}/proxy/hello`);
    assert.equal(reply.json.url, '/hello', name);
  }
});

test('what does not answer is a 503 in the words of upstream', async () => {
  const cases: readonly (readonly [path: string, code: number, message: string])[] = [
    ['pods/none/proxy/', 404, 'pods "none" not found'],
    ['pods/ftp:p:80/proxy/', 400, 'invalid pod request "ftp:p:80"'],
    ['pods/p:9/proxy/', 503, 'error trying to reach service: dial tcp 127.0.0.1:9: connect: connection refused'],
    ['services/s:83/proxy/', 503, 'no service port 83 found for service "s"'],
    ['services/s/proxy/', 503, 'no endpoints available for service "s"'],
    ['services/empty:web/proxy/', 503, 'no endpoints available for service "empty:web"'],
  ];
  for (const [path, code, message] of cases) {
    const reply = await api.send('GET', `${root}/${path}`);
    assert.equal(reply.status, code, path);
    assert.equal(reply.json.message, message);
  }
});

test('a connection that changes its protocol in the pod is joined through, of a pod and of a service', async () => {
  for (const name of ['pods/p:80', 'services/s:web']) {
    const connection = await upgrade(api, 'GET', `${root}/${name}/proxy/live?a=b`, webSocketHeaders(''));
    assert.equal(connection.status, 101, name);
    assert.equal(connection.headers.upgrade, 'websocket');
    assert.equal(connection.headers['x-url'], '/live?a=b');
    assert.equal(String(await connection.read(5)), 'first');
    connection.write(Buffer.from('over and over'));
    assert.equal(String(await connection.read(13)), 'over and over');
    connection.close();
  }
  assert.equal((await upgrade(api, 'GET', `${root}/pods/p:9/proxy/`, webSocketHeaders(''))).status, 503);
});

test('a node tells whether its agent works and which pods it has', async () => {
  await api.send('POST', '/api/v1/nodes', { metadata: { name: 'n1' } });
  const health = await api.send('GET', '/api/v1/nodes/n1/proxy/healthz');
  assert.equal(health.status, 200);
  assert.equal(health.text, 'ok');
  const { json } = await api.send('GET', '/api/v1/nodes/n1:10250/proxy/pods');
  assert.equal(json.kind, 'PodList');
  assert.deepEqual(
    json.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name),
    ['p'],
  );
  assert.equal((await api.send('GET', '/api/v1/nodes/n1/proxy/stats')).status, 404);
  assert.equal((await api.send('GET', '/api/v1/nodes/none/proxy/healthz')).json.message, 'nodes "none" not found');
});
