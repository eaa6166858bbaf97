import assert from 'node:assert/strict';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createHttp2Server } from 'node:http2';
import { type AddressInfo, createServer as createTcpServer, type Server as TcpServer } from 'node:net';
import { type TestContext, test } from 'node:test';
import { checkProbe } from './probe-check.js';
import type { ProbeTarget } from './probe-target.js';

async function listening(t: TestContext, server: TcpServer | Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    if ('closeAllConnections' in server) server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

function targetWith(port = 0): ProbeTarget {
  const container = { name: 'main', ports: [{ name: 'web', containerPort: port }] };
  const nothing = { exitCode: 0, stdout: '', stderr: '', timedOut: false };
  return { podIp: '127.0.0.1', container, execute: async () => nothing };
}

async function withHttp(t: TestContext, answer: RequestListener): Promise<{ port: number; target: ProbeTarget }> {
  const port = await listening(t, createServer(answer));
  return { port, target: targetWith(port) };
}

test('N18 an HTTP probe finds a port by its name, sends the headers it is given, and follows redirects on the same host', async (t) => {
  const seen: unknown[] = [];
  const { target } = await withHttp(t, (request, response) => {
    const { host, accept, 'user-agent': agent, 'x-tag': tag } = request.headers;
    seen.push([request.url, host, accept, agent, tag]);
    if (request.url === '/start?a=1') response.writeHead(302, { location: '/end' });
    response.end();
  });
  const httpGet = {
    port: 'web',
    path: '/start?a=1',
    httpHeaders: [
      { name: 'Host', value: 'example.com' },
      { name: 'user-agent', value: 'mine' },
      { name: 'Accept', value: '' },
      { name: 'X-Tag', value: 'one' },
      { name: 'x-tag', value: 'two' },
    ],
  };
  assert.deepEqual(await checkProbe({ httpGet }, target, 5_000), { isSuccess: true, message: '' });
  assert.deepEqual(seen, [
    ['/start?a=1', 'example.com', undefined, 'mine', 'one, two'],
    ['/end', 'example.com', undefined, 'mine', 'one, two'],
  ]);
});

test('N18 a redirect to another host is a success, one that never ends is none', async (t) => {
  const { port, target } = await withHttp(t, (request, response) => {
    response.writeHead(302, { location: request.url === '/away' ? 'http://localhost:1/' : '/again' });
    response.end();
  });
  const get = (path: string) => checkProbe({ httpGet: { port, path } }, target, 5_000);
  assert.deepEqual(await get('/away'), { isSuccess: true, message: '' });
  assert.deepEqual(await get('/again'), {
    isSuccess: false,
    message: `Get "http://127.0.0.1:${port}/again": stopped after 10 redirects`,
  });
});

test('N18 an HTTP probe that fails, that hangs, and that nobody answers, are told in kubelet’s words', async (t) => {
  const { port, target } = await withHttp(t, (request, response) => {
    if (request.url === '/hangs') return;
    response.writeHead(503);
    response.end();
  });
  const get = async (at: number, path: string) =>
    (await checkProbe({ httpGet: { port: at, path } }, target, 200)).message;
  assert.equal(await get(port, '/bad'), 'HTTP probe failed with statuscode: 503');
  const late = 'context deadline exceeded (Client.Timeout exceeded while awaiting headers)';
  assert.equal(await get(port, '/hangs'), `Get "http://127.0.0.1:${port}/hangs": ${late}`);
  assert.equal(await get(1, '/'), 'Get "http://127.0.0.1:1/": dial tcp 127.0.0.1:1: connect: connection refused');
  const unknown = await checkProbe({ tcpSocket: { port: 'none' } }, target, 200);
  assert.equal(unknown.message, 'couldn\'t find port "none" of container "main"');
});

/** A health server: SERVING for the service `up`, NOT_SERVING for `down`, the gRPC status 12 for `other`; silent else. */
async function healthServer(t: TestContext): Promise<number> {
  const server = createHttp2Server();
  const sessions = new Set<{ destroy(): void }>();
  server.on('session', (session) => sessions.add(session));
  t.after(() => {
    for (const session of sessions) session.destroy();
  });
  server.on('stream', (stream, headers) => {
    assert.equal(headers[':path'], '/grpc.health.v1.Health/Check');
    stream.on('error', () => undefined);
    stream.once('data', (request: Buffer) => {
      const service = request.subarray(7).toString();
      assert.deepEqual([...request.subarray(0, 7)], [0, 0, 0, 0, service.length + 2, 0x0a, service.length]);
      if (service === 'other') {
        stream.respond({ 'grpc-status': '12', 'grpc-message': 'unknown%20service' }, { endStream: true });
      } else if (service === 'garbled') {
        stream.respond({ 'grpc-status': '12', 'grpc-message': '100% broken' }, { endStream: true });
      } else if (service === 'endless') {
        stream.respond({ 'content-type': 'application/grpc' });
        stream.end(Buffer.alloc(64 * 1024));
      } else if (service !== 'silent') {
        stream.respond({ 'content-type': 'application/grpc' }, { waitForTrailers: true });
        stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
        stream.end(Buffer.from([0, 0, 0, 0, 2, 0x08, service === 'up' ? 1 : 2]));
      }
    });
  });
  return await listening(t, server as unknown as TcpServer);
}

test('N18 a gRPC probe asks for the health of its service', async (t) => {
  const port = await healthServer(t);
  const health = (service: string) => checkProbe({ grpc: { port, service } }, targetWith(), 500);
  assert.deepEqual(await health('up'), { isSuccess: true, message: '' });
  const messages = [(await health('down')).message, (await health('other')).message, (await health('silent')).message];
  assert.deepEqual(messages, [
    'service unhealthy (responded with "NOT_SERVING")',
    'error: this server does not implement the grpc health protocol (grpc.health.v1.Health): unknown service',
    'timeout: health rpc did not complete within 0.5s',
  ]);
  // What a program answers is its own, and ends nothing but its probe.
  assert.match((await health('garbled')).message, /100% broken$/);
  assert.match((await health('endless')).message, /the answer is longer than 4096 bytes/);
  const nobody = await checkProbe({ grpc: { port: 1 } }, targetWith(), 500);
  assert.equal(
    nobody.message,
    'error: failed to connect service at "127.0.0.1:1": dial tcp 127.0.0.1:1: connect: connection refused',
  );
  const mute = await listening(
    t,
    createTcpServer((socket) => t.after(() => socket.destroy())),
  );
  assert.equal((await checkProbe({ grpc: { port: mute } }, targetWith(), 200)).isSuccess, false);
});
