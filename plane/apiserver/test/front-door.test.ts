import assert from 'node:assert/strict';
import { once } from 'node:events';
import { stat } from 'node:fs/promises';
import { connect } from 'node:http2';
import { request } from 'node:https';
import { connect as connectTcp } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { realWorld } from '@castellan/world';
import { ensureCertificates, type LogRequest, PortInUseError } from '../src/index.js';
import { type ServerUnderTest, send, startServer } from './server-under-test.js';

const asked: LogRequest[] = [];
let api: ServerUnderTest;
before(async () => {
  const nodeStreams = {
    async *logs(log: LogRequest) {
      asked.push(log);
      yield Buffer.from('line 1\n');
      yield Buffer.from('line 2\n');
    },
    execute: () => Promise.reject(new Error('not in this test')),
    attach: () => Promise.reject(new Error('not in this test')),
    connect: () => Promise.reject(new Error('not in this test')),
  };
  api = await startServer({ nodeStreams });
});
after(() => api.stop());

const configMaps = '/api/v1/namespaces/default/configmaps';

test('a port in use is named, with what to do', async () => {
  const port = Number(new URL(api.url).port);
  const { serverKey, serverCertificate, caCertificate } = api.certificates;
  const tls = { key: serverKey, certificate: serverCertificate, clientCa: caCertificate };
  await assert.rejects(api.server.listen({ host: '127.0.0.1', port, tls }), (error) => {
    assert.ok(error instanceof PortInUseError);
    assert.match(error.message, new RegExp(`port ${port} .*choose another port`));
    return true;
  });
});

test('certificates are kept, private, and made anew for a new name by the same authority until it ends', async () => {
  const { directory } = api;
  const world = realWorld();
  const same = await ensureCertificates({
    directory,
    names: ['localhost'],
    addresses: ['127.0.0.1'],
    world,
  });
  assert.deepEqual(same, api.certificates);
  assert.equal((await stat(join(directory, 'admin.key'))).mode & 0o777, 0o600);
  const renamed = await ensureCertificates({
    directory,
    names: ['localhost', 'other.example'],
    addresses: ['127.0.0.1', '::1'],
    world,
  });
  assert.notEqual(renamed.serverCertificate, same.serverCertificate);
  assert.equal(renamed.caCertificate, same.caCertificate);
  const inTenYears = { ...world, clock: { ...world.clock, now: () => world.clock.now() + 3650 * 24 * 3600 * 1000 } };
  const renewed = await ensureCertificates({
    directory,
    names: ['localhost'],
    addresses: ['127.0.0.1'],
    world: inTenYears,
  });
  assert.notEqual(renewed.caCertificate, renamed.caCertificate);
});

test('HTTP/1.1 clients are served on the same port', async () => {
  const { caCertificate: ca, adminKey: key, adminCertificate: cert } = api.certificates;
  const body = await new Promise<string>((resolve, reject) => {
    request(`${api.url}/version`, { ca, key, cert }, (response) => {
      assert.equal(response.httpVersion, '1.1');
      let text = '';
      response.on('data', (chunk) => {
        text += String(chunk);
      });
      response.on('end', () => resolve(text));
    })
      .on('error', reject)
      .end();
  });
  assert.equal(JSON.parse(body).minor, '36');
});

test('a token that this server did not issue is refused', async () => {
  const session = connect(api.url, { ca: api.certificates.caCertificate });
  const refused = await send(session, { method: 'GET', path: '/version', headers: { authorization: 'Bearer x' } });
  assert.equal(refused.status, 401);
  session.close();
});

test('bad bodies are refused with what is wrong, and the server goes on', async () => {
  const cases: readonly (readonly [body: unknown, headers: Record<string, string>, status: number, message: RegExp])[] =
    [
      ['{"a":', {}, 400, /json parse error/],
      ['[]', {}, 400, /cannot unmarshal array/],
      ['a: [b', { 'content-type': 'application/yaml' }, 400, /yaml: line 1: did not find expected/],
      [Buffer.from('a1'), { 'content-type': 'application/cbor' }, 415, /application\/json/],
      [{ metadata: { name: 'UPPER' } }, {}, 422, /lowercase RFC 1123 subdomain/],
      [{ metadata: { name: 5 } }, {}, 400, /cannot unmarshal number/],
      [{ metadata: { name: 'a', labels: { a: 1 } } }, {}, 400, /ObjectMeta\.metadata\.labels/],
      [{ kind: 'Secret', apiVersion: 'v1', metadata: { name: 'a' } }, {}, 400, /cannot be handled as a ConfigMap/],
      [{ metadata: { name: 'a', namespace: 'other' } }, {}, 400, /does not match the namespace/],
      [{ data: {} }, {}, 422, /name or generateName is required/],
      ['x'.repeat(3 * 1024 * 1024 + 1), {}, 413, /too large/i],
    ];
  for (const [body, headers, status, message] of cases) {
    const reply = await api.send('POST', configMaps, body, headers);
    assert.equal(reply.status, status, reply.text);
    assert.equal(reply.json.kind, 'Status');
    assert.match(reply.json.message, message);
  }
  assert.equal((await api.send('GET', configMaps)).status, 200);
});

test('keys that mean something to JavaScript are data like any other', async () => {
  const hostile =
    '{"metadata":{"name":"hostile","labels":{"constructor":"a"}},"data":{"__proto__":"x","constructor":"y","toString":"z"}}';
  const created = await api.send('POST', configMaps, hostile);
  assert.equal(created.status, 201);
  assert.match(created.text, /"__proto__":"x"/);
  const merge = { 'content-type': 'application/merge-patch+json' };
  const patched = await api.send('PATCH', `${configMaps}/hostile`, '{"data":{"__proto__":"w"}}', merge);
  assert.match(patched.text, /"__proto__":"w"/);
  assert.equal((await api.send('GET', `${configMaps}?fieldSelector=constructor%3Dx`)).status, 400);
  assert.equal((await api.send('GET', '/api/v1/namespaces/default/constructor')).status, 404);
});

test('unknown paths and methods are told apart', async () => {
  assert.equal((await api.send('GET', '/nosuch')).status, 404);
  assert.equal((await api.send('GET', '/api/v1/nosuch')).json.reason, 'NotFound');
  assert.equal((await api.send('PUT', configMaps, {})).status, 405);
  assert.equal((await api.send('POST', '/version', {})).status, 405);
  const reply = await api.send('GET', configMaps, undefined, { accept: 'text/html' });
  assert.equal(reply.status, 406);
  assert.match(reply.headers['audit-id'] ?? '', /^[0-9a-f-]{36}$/);
});

test('unknown fields of custom resources are refused, warned of or passed over, as the client asks', async () => {
  const definition = {
    metadata: { name: 'things.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'things', kind: 'Thing' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object' } } } },
        },
      ],
    },
  };
  assert.equal(
    (await api.send('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition)).status,
    201,
  );
  const things = '/apis/example.com/v1/namespaces/default/things';
  const thing = (name: string) => ({
    apiVersion: 'example.com/v1',
    kind: 'Thing',
    metadata: { name },
    spec: { odd: 1 },
  });
  const strict = await api.send('POST', `${things}?fieldValidation=Strict`, thing('a'));
  assert.equal(strict.status, 400);
  assert.match(strict.json.message, /strict decoding error: unknown field "spec.odd"/);
  const warned = await api.send('POST', things, thing('b'));
  assert.equal(warned.headers.warning, '299 - "unknown field \\"spec.odd\\""');
  assert.deepEqual(warned.json.spec, {});
  const ignored = await api.send('POST', `${things}?fieldValidation=Ignore`, thing('c'));
  assert.equal(ignored.headers.warning, undefined);
});

test('old clients get the discovery that they can read', async () => {
  const v2 = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
  const v2beta1 = 'application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList';
  const aggregated = await api.send('GET', '/apis', undefined, { accept: `${v2},${v2beta1},application/json` });
  assert.equal(aggregated.json.kind, 'APIGroupDiscoveryList');
  const again = await api.send('GET', '/apis', undefined, {
    accept: v2,
    'if-none-match': aggregated.headers.etag ?? '',
  });
  assert.equal(again.status, 304);
  const legacy = await api.send('GET', '/apis', undefined, { accept: `${v2beta1},application/json` });
  assert.equal(legacy.json.kind, 'APIGroupList');
});

test('logs come from the node agent, for a container that is named or the only one', async () => {
  const pods = '/api/v1/namespaces/default/pods';
  const spec = {
    nodeName: 'n1',
    containers: [
      { name: 'a', image: 'x' },
      { name: 'b', image: 'x' },
    ],
  };
  await api.send('POST', pods, { metadata: { name: 'p' }, spec });
  const unnamed = await api.send('GET', `${pods}/p/log`);
  assert.equal(unnamed.status, 400);
  assert.match(unnamed.json.message, /choose one of: \[a b\]/);
  const log = await api.send('GET', `${pods}/p/log?container=b&tailLines=5&timestamps=true`);
  assert.equal(log.text, 'line 1\nline 2\n');
  assert.deepEqual(asked.at(-1), {
    namespace: 'default',
    pod: 'p',
    container: 'b',
    follow: false,
    previous: false,
    timestamps: true,
    tailLines: 5,
  });
});

test('closing the server ends its watches and connections, those too that are in the middle of a handshake', async () => {
  const other = await startServer();
  const silent = connectTcp(Number(new URL(other.url).port), '127.0.0.1');
  await once(silent, 'connect');
  const watch = other.watch(`${configMaps}?watch=true`);
  assert.equal(await watch.status, 200);
  await other.stop();
  await watch.ended;
  silent.destroy();
});
