import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { openApiProxy } from './api-proxy.js';
import { refusalOf } from './request-gate.js';

/** An API server that tells what it was asked, sends a first line of a watch, and echoes what is upgraded. */
async function apiServer(t: TestContext): Promise<string> {
  const server: Server = createServer((request, response) => {
    if (request.url?.includes('watch') === true) return response.write('{"type":"ADDED"}\n');
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const { authorization, origin } = request.headers;
      response.writeHead(201, { 'x-seen': '1' });
      response.end(
        JSON.stringify([request.method, request.url, authorization, origin, Buffer.concat(chunks).toString()]),
      );
    });
  });
  server.on('upgrade', (request, socket) => {
    socket.on('error', () => socket.destroy());
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: ${request.headers.upgrade}\r\nConnection: Upgrade\r\n\r\n`,
    );
    socket.pipe(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function openProxy(t: TestContext): Promise<URL> {
  const proxy = await openApiProxy({ server: await apiServer(t), token: 'secret' }, 0);
  t.after(() => proxy.close());
  return new URL(proxy.url);
}

/** Resolves with what was read when it ends as `end` says. */
async function readUntil(socket: Socket, end: string): Promise<string> {
  let text = '';
  while (!text.endsWith(end)) text += String((await once(socket, 'data', { signal: AbortSignal.timeout(30_000) }))[0]);
  return text;
}

test('a request goes on with the credentials of the kubeconfig, and without those of its sender', async (t) => {
  const { origin } = await openProxy(t);
  const reply = await fetch(`${origin}/api/v1/pods?limit=1`, {
    method: 'POST',
    headers: { authorization: 'Bearer other', origin },
    body: 'hello',
  });
  assert.equal(reply.status, 201);
  assert.equal(reply.headers.get('x-seen'), '1');
  assert.deepEqual(await reply.json(), ['POST', '/api/v1/pods?limit=1', 'Bearer secret', null, 'hello']);
});

test('a watch is read as it comes', async (t) => {
  const { origin } = await openProxy(t);
  const reply = await fetch(`${origin}/api/v1/pods?watch=1`, { signal: AbortSignal.timeout(30_000) });
  const first = await reply.body?.getReader().read();
  assert.equal(Buffer.from(first?.value ?? []).toString(), '{"type":"ADDED"}\n');
});

test('an upgraded connection is joined through', async (t) => {
  const { port, host } = await openProxy(t);
  const socket = connect(Number(port), '127.0.0.1');
  t.after(() => socket.destroy());
  socket.write(`GET /api/v1/watch HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n`);
  assert.match(await readUntil(socket, '\r\n\r\n'), /^HTTP\/1\.1 101 Switching Protocols\r\n.*Upgrade: echo/s);
  socket.write('over and over');
  assert.equal(await readUntil(socket, 'over and over'), 'over and over');
});

test('what is refused is answered with 403, upgraded or not', async (t) => {
  const { port, origin } = await openProxy(t);
  const reply = await fetch(`${origin}/api`, { headers: { origin: 'https://example.com' } });
  assert.equal(reply.status, 403);
  assert.equal(await reply.text(), 'requests of pages from "https://example.com" are not passed on\n');
  const socket = connect(Number(port), '127.0.0.1');
  t.after(() => socket.destroy());
  socket.write('GET /api HTTP/1.1\r\nHost: example.com\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n');
  assert.match(await readUntil(socket, 'loopback'), /^HTTP\/1\.1 403 Forbidden\r\n/);
});

test('pages of other sites are told by host, origin or what browsers say of the site; commands in containers are refused', () => {
  const isRefused = (headers: Readonly<Record<string, string>>, url = '/api/v1/pods') =>
    refusalOf({ url, headers }, 8001) !== undefined;
  const host = '127.0.0.1:8001';
  assert.equal(isRefused({ host }), false);
  assert.equal(isRefused({ host: 'localhost' }), false);
  assert.equal(
    isRefused({ host: '[::1]:8001', origin: 'http://localhost:8001', 'sec-fetch-site': 'same-origin' }),
    false,
  );
  assert.equal(isRefused({}), true);
  assert.equal(isRefused({ host: 'rebound.example:8001' }), true);
  assert.equal(isRefused({ host, origin: 'null' }), true);
  assert.equal(isRefused({ host, origin: 'http://localhost:3000' }), true);
  assert.equal(isRefused({ host, 'sec-fetch-site': 'cross-site' }), true);
  assert.equal(isRefused({ host }, '/api/v1/namespaces/a/pods/b/exec?command=id'), true);
  assert.equal(isRefused({ host }, '/api/v1/namespaces/a/pods/b/log'), false);
});
