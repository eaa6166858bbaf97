import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:http2';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { memoryKeyspace } from '@castellan/keyspace';
import { realWorld } from '@castellan/world';
import { createApiServer } from '../src/index.js';
import { InFlight } from '../src/request/in-flight.js';
import { type ServerUnderTest, send, startServer } from './server-under-test.js';

let server: ServerUnderTest;

before(async () => {
  server = await startServer();
});

after(() => server.stop());

const configMaps = '/api/v1/namespaces/default/configmaps';

test('a body of 100 MB is refused with a 413 and is not held in memory', async () => {
  const before = process.memoryUsage().rss;
  const session = connect(server.url, {
    ca: server.certificates.caCertificate,
    key: server.certificates.adminKey,
    cert: server.certificates.adminCertificate,
  });
  try {
    const stream = session.request({ ':method': 'POST', ':path': configMaps, 'content-type': 'application/json' });
    stream.on('error', () => {});
    const status = new Promise<number>((resolve) => stream.on('response', (head) => resolve(Number(head[':status']))));
    const chunk = Buffer.alloc(1024 * 1024, 'x');
    for (let sent = 0; sent < 100 && !stream.destroyed; sent += 1) {
      if (!stream.write(chunk))
        await new Promise<void>((resolve) => void stream.once('drain', resolve).once('close', resolve));
    }
    stream.end();
    assert.equal(await status, 413);
  } finally {
    session.destroy();
  }
  const grown = process.memoryUsage().rss - before;
  assert.ok(grown < 80 * 1024 * 1024, `memory grew by ${grown} bytes`);
});

test('JSON that is nested 100,000 deep is refused, and the server goes on', async () => {
  const deep = `{"metadata":{"name":"deep"},"data":${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}}`;
  const reply = await server.send('POST', configMaps, deep);
  assert.ok(reply.status >= 400 && reply.status < 500, `${reply.status}: ${reply.text.slice(0, 200)}`);
  assert.equal((await server.send('GET', '/readyz')).status, 200);
});

test('keys with a meaning to JavaScript neither change the server nor get lost', async () => {
  const body = '{"metadata":{"name":"proto","labels":{"constructor":"x"}},"data":{"__proto__":"y","toString":"z"}}';
  const created = await server.send('POST', configMaps, body);
  assert.equal(created.status, 201, created.text);
  assert.match(created.text, /"__proto__":"y"/);
  assert.equal(Object.hasOwn(Object.prototype, 'y'), false);
});

test('the 401st read, the 201st write and the 10,001st watch at once are told to come back later', () => {
  const user = { name: 'bob', groups: ['system:authenticated'] };
  const info = { type: 'resource', group: '', version: 'v1', plural: 'pods', subresource: '' } as const;
  for (const { verb, limit } of [
    { verb: 'list', limit: 400 },
    { verb: 'create', limit: 200 },
    { verb: 'watch', limit: 10_000 },
  ]) {
    const inFlight = new InFlight();
    const entered = Array.from({ length: limit }, () => inFlight.enter(user, verb, info));
    assert.throws(() => inFlight.enter(user, verb, info), { reason: 'TooManyRequests' });
    entered[0]?.leave();
    entered[0]?.leave();
    inFlight.enter(user, verb, info);
    assert.throws(() => inFlight.enter(user, verb, info), { reason: 'TooManyRequests' });
  }
});

test('the audit log says who asked for what, as whom, and what came of it, and never what was in it', async () => {
  const world = realWorld();
  const auditLog = join(server.directory, 'audit.log');
  const keyspace = memoryKeyspace(world);
  const audited = await createApiServer({ keyspace, world, auditLog });
  const { certificates } = server;
  const tls = {
    key: certificates.serverKey,
    certificate: certificates.serverCertificate,
    clientCa: certificates.caCertificate,
  };
  const { url } = await audited.listen({ host: '127.0.0.1', port: 0, tls });
  const session = connect(url, {
    ca: certificates.caCertificate,
    key: certificates.adminKey,
    cert: certificates.adminCertificate,
  });
  const body = { metadata: { name: 'a' }, stringData: { password: 'hunter2' } };
  const path = '/api/v1/namespaces/default/secrets';
  await send(session, { method: 'POST', path, body, headers: {} });
  await send(session, { method: 'GET', path: `${path}/a`, headers: { 'impersonate-user': 'bob' } });
  session.destroy();
  await audited.close();
  await keyspace.close();
  const text = await readFile(auditLog, 'utf8');
  assert.ok(!text.includes('hunter2'));
  const [created, read] = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.equal(created.verb, 'create');
  assert.equal(created.responseStatus.code, 201);
  assert.deepEqual(created.objectRef, { resource: 'secrets', namespace: 'default', name: 'a', apiVersion: 'v1' });
  assert.deepEqual(created.sourceIPs, ['127.0.0.1']);
  assert.equal(created.annotations['authorization.k8s.io/decision'], 'allow');
  assert.equal(read.impersonatedUser.username, 'bob');
  assert.equal(read.responseStatus.code, 403);
  assert.equal(read.annotations['authorization.k8s.io/decision'], 'forbid');
});
