import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import { test } from 'node:test';
import { CliError } from '../errors.js';
import { canRead, getKey, putKey } from './gateway.js';

async function withServer(listener: RequestListener, use: (url: string) => Promise<void>): Promise<void> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  try {
    await use(`http://127.0.0.1:${address.port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

test('a key and its value are sent and read in base64, and an absent key has no value', async () => {
  const bodies: string[] = [];
  await withServer(
    (request, response) => {
      request.on('data', (chunk) => bodies.push(`${request.url} ${chunk}`));
      request.on('end', () => response.end(bodies.length < 3 ? '{"kvs":[{"key":"a2V5","value":"dmFsdWU="}]}' : '{}'));
    },
    async (url) => {
      await putKey(url, 'key', 'value');
      assert.equal(await getKey(url, 'key'), 'value');
      assert.equal(await getKey(url, 'other'), undefined);
    },
  );
  assert.deepEqual(bodies.slice(0, 2), ['/v3/kv/put {"key":"a2V5","value":"dmFsdWU="}', '/v3/kv/range {"key":"a2V5"}']);
});

test('an older etcd, whose gateway has another path, is asked there', async () => {
  await withServer(
    (request, response) => {
      response.statusCode = request.url?.startsWith('/v3beta/') === true ? 200 : 404;
      response.end('{"kvs":[{"value":"eA=="}]}');
    },
    async (url) => assert.equal(await getKey(url, 'key'), 'x'),
  );
});

test('an etcd that refuses, or is not there, is named', async () => {
  const isNamed = (url: string) => (error: unknown) => error instanceof CliError && error.message.includes(url);
  await withServer(
    (_request, response) => {
      response.statusCode = 503;
      response.end('no leader');
    },
    async (url) => await assert.rejects(getKey(url, 'key'), isNamed(url)),
  );
  await assert.rejects(getKey('http://127.0.0.1:1', 'key'), isNamed('http://127.0.0.1:1'));
});

test('a member can be read from when it answers, and not when it refuses or nothing listens', async () => {
  let left = '';
  await withServer(
    (request, response) => {
      response.statusCode = request.url?.startsWith('/bad') === true ? 503 : 200;
      response.end('{}');
    },
    async (url) => {
      left = url;
      assert.equal(await canRead(url), true);
      assert.equal(await canRead(`${url}/bad`), false);
    },
  );
  assert.equal(await canRead(left), false);
});
