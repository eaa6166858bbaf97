import assert from 'node:assert/strict';
import http from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { configMaps, isStatusError, StatusError } from '@castellan/machinery';
import { connect } from '../src/index.js';
import { certificate, key as privateKey } from './self-signed.js';
import { bodyOf, reply, startTestServer } from './test-server.js';
import { configMap, key, nextOf, withServer } from './with-server.js';

test('reads, creates, replaces, patches and deletes over one h2 connection', async () => {
  const seen: string[] = [];
  await withServer(
    async (request, response) => {
      assert.equal(request.httpVersion, '2.0');
      assert.equal(request.headers.authorization, 'Bearer secret');
      const body = await bodyOf(request);
      const type = request.headers['content-type'];
      seen.push([request.method, request.url, type, body === undefined ? '' : JSON.stringify(body)].join(' '));
      if (request.method === 'DELETE')
        reply(response, 200, { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success' });
      else reply(response, 200, configMap);
    },
    async (client, server) => {
      assert.deepEqual(await client.get(configMaps, key), configMap);
      await client.create(
        configMaps,
        { metadata: { namespace: 'default', name: 'a' } },
        { fieldManager: 'me', dryRun: true },
      );
      await client.update(configMaps, configMap, { subresource: 'status' });
      await client.patch(configMaps, key, { type: 'merge', body: { data: { x: '1' } } });
      await client.patch(configMaps, key, { type: 'apply', body: { data: {} }, fieldManager: 'me', force: true });
      assert.equal(await client.delete(configMaps, key, { gracePeriodSeconds: 0, preconditions: { uid: 'u' } }), true);
      assert.equal(server.connections, 1);
    },
  );
  const base = '/api/v1/namespaces/default/configmaps';
  assert.deepEqual(seen, [
    `GET ${base}/a  `,
    `POST ${base}?fieldManager=me&dryRun=All application/json {"metadata":{"namespace":"default","name":"a"},"apiVersion":"v1","kind":"ConfigMap"}`,
    `PUT ${base}/a/status application/json ${JSON.stringify(configMap)}`,
    `PATCH ${base}/a application/merge-patch+json {"data":{"x":"1"}}`,
    `PATCH ${base}/a?fieldManager=me&force=true application/apply-patch+yaml {"data":{}}`,
    `DELETE ${base}/a application/json {"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":0,"preconditions":{"uid":"u"}}`,
  ]);
});

test('gives the items of a list the kind that the list leaves out', async () => {
  await withServer(
    (_request, response) =>
      reply(response, 200, {
        kind: 'ConfigMapList',
        apiVersion: 'v1',
        metadata: { resourceVersion: '9' },
        items: [{ metadata: { name: 'a', namespace: 'default' } }],
      }),
    async (client) => {
      const list = await client.list(configMaps, { limit: 5, labelSelector: 'app=x' });
      assert.equal(list.metadata.resourceVersion, '9');
      assert.deepEqual(list.items[0], {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'a', namespace: 'default' },
      });
    },
  );
});

test('throws what the server refuses as StatusError, from a Status or from plain text', async () => {
  await withServer(
    (request, response) => {
      if (request.url.endsWith('/a'))
        reply(response, 404, StatusError.of('NotFound', 'configmaps "a" not found').status);
      else response.writeHead(415).end('the body is of the wrong type');
    },
    async (client) => {
      await assert.rejects(client.get(configMaps, key), (error) => isStatusError(error, 'NotFound'));
      assert.equal(await client.find(configMaps, key), undefined);
      assert.equal(await client.delete(configMaps, key), false);
      await assert.rejects(client.list(configMaps), {
        name: 'StatusError',
        code: 415,
        message: 'the body is of the wrong type',
      });
    },
  );
});

test('repeats GET, PUT and DELETE after Retry-After, a bounded number of times, and POST never', async () => {
  let count = 0;
  let refusals = 2;
  await withServer(
    (_request, response) => {
      count += 1;
      if (count > refusals) return reply(response, 200, configMap);
      reply(response, 429, StatusError.of('TooManyRequests', 'slow down').status, { 'retry-after': '0' });
    },
    async (client) => {
      await client.update(configMaps, configMap);
      assert.equal(count, 3);
      count = 0;
      await assert.rejects(client.create(configMaps, configMap), { name: 'StatusError', code: 429 });
      assert.equal(count, 1);
      [count, refusals] = [0, Number.POSITIVE_INFINITY];
      await assert.rejects(client.get(configMaps, key), { name: 'StatusError', code: 429 });
      assert.equal(count, 6);
    },
  );
});

test('a request ends at its deadline and says so', async () => {
  await withServer(
    () => undefined,
    async (client) => {
      await assert.rejects(client.get(configMaps, key), { name: 'ConnectionError', failure: 'deadline' });
      await assert.rejects(nextOf(client.watch(configMaps, {})), { name: 'ConnectionError', failure: 'deadline' });
    },
    { client: { deadlineMs: 50 } },
  );
});

test('speaks HTTP/1.1 to a TLS server without h2, and to a server without TLS', async () => {
  const answer: http.RequestListener = (request, response) => {
    assert.equal(request.httpVersion, '1.1');
    request.resume().once('end', () => response.end(JSON.stringify(configMap)));
  };
  const servers = [https.createServer({ key: privateKey, cert: certificate }, answer), http.createServer(answer)];
  for (const [index, server] of servers.entries()) {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const scheme = index === 0 ? 'https' : 'http';
    const client = connect({ server: `${scheme}://127.0.0.1:${port}`, caCertificate: certificate });
    assert.deepEqual(await client.get(configMaps, key), configMap);
    assert.deepEqual(await client.update(configMaps, configMap), configMap);
    await client.close();
    await new Promise((resolve) => server.close(resolve));
  }
});

test('says what is wrong when nothing listens, the certificate is unknown, or the client was closed', async () => {
  const server = await startTestServer((_request, response) => reply(response, 200, configMap));
  const untrusting = connect({ server: server.url });
  await assert.rejects(untrusting.get(configMaps, key), { name: 'ConnectionError', failure: 'untrusted' });
  const client = connect({ server: server.url, caCertificate: certificate });
  await client.close();
  await assert.rejects(client.get(configMaps, key), { name: 'ConnectionError', failure: 'closed' });
  await server.close();
  const late = connect({ server: server.url, caCertificate: certificate });
  await assert.rejects(late.get(configMaps, key), { name: 'ConnectionError', failure: 'refused' });
  assert.throws(() => connect({ server: 'somewhere' }), { name: 'ConfigError' });
});
