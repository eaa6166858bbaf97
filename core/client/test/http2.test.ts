import assert from 'node:assert/strict';
import http from 'node:http';
import type { Http2ServerResponse } from 'node:http2';
import https from 'node:https';
import net, { type AddressInfo } from 'node:net';
import { test } from 'node:test';
import { configMaps, isStatusError, StatusError } from '@castellan/machinery';
import { realWorld, simulatedWorld, waitFor } from '@castellan/world';
import { type Client, ConnectionError, type ConnectOptions, connect } from '../src/index.js';
import { certificate, key as privateKey } from './self-signed.js';
import { bodyOf, reply, startTestServer, type TestServer } from './test-server.js';

const world = realWorld();
const key = { namespace: 'default', name: 'a' };
const configMap = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'default', name: 'a', resourceVersion: '7' },
};

async function withServer(
  handler: Parameters<typeof startTestServer>[0],
  use: (client: Client, server: TestServer) => Promise<void>,
  options: { server?: Parameters<typeof startTestServer>[1]; client?: ConnectOptions } = {},
): Promise<void> {
  const server = await startTestServer(handler, options.server);
  const client = connect(
    { server: server.url, caCertificate: certificate, token: 'secret' },
    { world, ...options.client },
  );
  try {
    await use(client, server);
  } finally {
    await client.close();
    await server.close();
  }
}

function until(what: string, condition: () => boolean): Promise<unknown> {
  return waitFor(world, condition, { what, deadlineMs: 5_000, everyMs: 5 });
}

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

test('delivers watch events as they come, over lines cut anywhere, in UTF-8 cut anywhere', async () => {
  const events = [
    { type: 'ADDED', object: { ...configMap, data: { text: 'Größe €' } } },
    { type: 'BOOKMARK', object: { metadata: { resourceVersion: '12' } } },
    { type: 'DELETED', object: configMap },
  ];
  const bytes = Buffer.from(events.map((event) => `${JSON.stringify(event)}\n`).join(''));
  await withServer(
    async (request, response) => {
      assert.match(request.url, /\?watch=true&resourceVersion=5&allowWatchBookmarks=true&timeoutSeconds=60$/);
      response.writeHead(200);
      for (const byte of bytes) {
        response.write(Buffer.from([byte]));
        if (byte % 7 === 0) await new Promise((resolve) => setImmediate(resolve));
      }
      response.end();
    },
    async (client) => {
      const seen: unknown[] = [];
      const options = { resourceVersion: '5', allowWatchBookmarks: true, timeoutSeconds: 60 };
      for await (const event of client.watch(configMaps, options)) seen.push(event);
      assert.deepEqual(seen, events);
    },
  );
});

test('throws the ERROR event of a watch as StatusError', async () => {
  await withServer(
    (_request, response) => {
      response.writeHead(200);
      response.end(`${JSON.stringify({ type: 'ERROR', object: StatusError.of('Expired', 'too old').status })}\n`);
    },
    async (client) => {
      await assert.rejects(nextOf(client.watch(configMaps, {})), (error) => isStatusError(error, 'Expired'));
    },
  );
});

async function nextOf<T>(events: AsyncIterable<T>): Promise<T | undefined> {
  for await (const event of events) return event;
  return undefined;
}

test('an abort ends a silent watch at once, with its reason, and the server sees the stream end', async () => {
  let isStreamOpen = false;
  await withServer(
    (_request, response) => {
      isStreamOpen = true;
      response.on('close', () => {
        isStreamOpen = false;
      });
      response.writeHead(200).write('\n');
    },
    async (client, server) => {
      const stop = new AbortController();
      const reason = new Error('enough');
      const next = nextOf(client.watch(configMaps, { signal: stop.signal }));
      next.catch(() => undefined);
      await until('the watch to be open', () => isStreamOpen);
      stop.abort(reason);
      await assert.rejects(next, reason);
      await until('the stream to be closed', () => !isStreamOpen);
      assert.equal(server.sessions.size, 1, 'the connection stays for other requests');
    },
  );
});

test('a watch that the caller leaves is closed on the server', async () => {
  let isStreamOpen = false;
  await withServer(
    (_request, response) => {
      isStreamOpen = true;
      response.on('close', () => {
        isStreamOpen = false;
      });
      response.writeHead(200).write(`${JSON.stringify({ type: 'ADDED', object: configMap })}\n`);
    },
    async (client) => {
      assert.deepEqual(await nextOf(client.watch(configMaps, {})), { type: 'ADDED', object: configMap });
      await until('the stream to be closed', () => !isStreamOpen);
    },
  );
});

test('connects anew after GOAWAY and lets open streams end', async () => {
  let finishWatch: (() => void) | undefined;
  await withServer(
    (request, response) => {
      if (!request.url.includes('watch=true')) return reply(response, 200, configMap);
      response.writeHead(200).write('\n');
      finishWatch = () => response.end(`${JSON.stringify({ type: 'ADDED', object: configMap })}\n`);
    },
    async (client, server) => {
      const event = nextOf(client.watch(configMaps, {}));
      await until('the watch to be open', () => finishWatch !== undefined);
      for (const session of server.sessions) session.goaway();
      await waitFor(world, async () => (await client.get(configMaps, key)) && server.connections === 2, {
        what: 'a request on a second connection',
        deadlineMs: 5_000,
        everyMs: 5,
      });
      finishWatch?.();
      assert.equal((await event)?.type, 'ADDED');
      await until('the first connection to be closed', () => server.sessions.size === 1);
    },
  );
});

test('asks a silent server for a sign of life, keeps the connection when it comes, gives it up when not', async () => {
  const simulated = simulatedWorld(1);
  let pings = 0;
  const server = await startTestServer((request, response) => {
    if (!request.url.includes('watch=true')) return reply(response, 200, configMap);
    request.stream.session?.on('ping', () => {
      pings += 1;
    });
    response.writeHead(200).write('\n');
  });
  const wire = await startWire(Number(new URL(server.url).port));
  const config = { server: `https://127.0.0.1:${wire.port}`, caCertificate: certificate };
  const client = connect(config, { world: simulated });
  const next = nextOf(client.watch(configMaps, { timeoutSeconds: 600 }));
  next.catch(() => undefined);
  await until('the watch to be open', () => server.sessions.size === 1 && simulated.pendingTimers === 2);
  try {
    for (let expected = 1; expected <= 2; expected += 1) {
      await simulated.advance(30_000);
      await until('a ping', () => pings === expected);
      // Its reply comes after the answer to the ping, on the same connection.
      await client.get(configMaps, key);
    }
    await simulated.advance(15_000);
    assert.equal(server.connections, 1);
    wire.freeze();
    await simulated.advance(60_000);
    await assert.rejects(next, { name: 'ConnectionError', failure: 'broken' });
  } finally {
    await client.close();
    wire.close();
    await server.close();
  }
});

/** A wire to a port of loopback that can be frozen: nothing arrives any more, and nothing says so. */
async function startWire(port: number) {
  const ends: net.Socket[] = [];
  const server = net.createServer((near) => {
    const far = net.connect(port, '127.0.0.1');
    ends.push(near, far);
    near.pipe(far).pipe(near);
    for (const end of [near, far]) end.on('error', () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    freeze: () => {
      for (const end of ends) end.unpipe().pause();
    },
    close: () => {
      for (const end of ends) end.destroy();
      server.close();
    },
  };
}

test('repeats a GET once when its connection breaks, and a write never', async () => {
  const seen: string[] = [];
  await withServer(
    (request, response) => {
      seen.push(request.method);
      if (request.method === 'GET' && seen.length > 1) return reply(response, 200, configMap);
      response.stream.session?.destroy();
    },
    async (client) => {
      await client.get(configMaps, key);
      assert.deepEqual(seen, ['GET', 'GET']);
      await assert.rejects(client.update(configMaps, configMap), (error) => {
        assert(error instanceof ConnectionError);
        assert.equal(error.failure, 'broken');
        assert.match(error.message, /^PUT \/api\/v1\/.* at https:.* may or may not have been carried out/);
        return true;
      });
      assert.deepEqual(seen, ['GET', 'GET', 'PUT']);
    },
  );
});

test('a reply that is cut off is broken, not short', async () => {
  const open: Http2ServerResponse[] = [];
  await withServer(
    (_request, response) => {
      open.push(response);
      response.writeHead(200).write('{"kind":"ConfigMap","metadata":{}}');
      setImmediate(() => response.stream.close(8));
    },
    async (client) => {
      await assert.rejects(client.get(configMaps, key), { name: 'ConnectionError', failure: 'broken' });
      assert.equal(open.length, 2);
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

test('opens more connections where the server allows few streams on each', async () => {
  const waiting: Http2ServerResponse[] = [];
  await withServer(
    (_request, response) => {
      waiting.push(response);
    },
    async (client, server) => {
      const first = client.get(configMaps, key);
      await until('the first request', () => waiting.length === 1);
      const rest = [1, 2, 3, 4].map(() => client.get(configMaps, key));
      await until('all requests', () => waiting.length === 5);
      for (const response of waiting) reply(response, 200, configMap);
      await Promise.all([first, ...rest]);
      assert.ok(server.connections >= 3, `${server.connections} connections`);
    },
    { server: { settings: { maxConcurrentStreams: 2 } } },
  );
});

test('waits for the word of the server how many streams it takes before it sends any', async () => {
  const waiting: Http2ServerResponse[] = [];
  await withServer(
    (_request, response) => {
      waiting.push(response);
    },
    async (client) => {
      const all = [1, 2, 3, 4, 5].map(() => client.get(configMaps, key));
      // Those that are over the limit would wait here for the others to end, for ever where those are watches.
      await until('all requests', () => waiting.length === 5);
      for (const response of waiting) reply(response, 200, configMap);
      await Promise.all(all);
    },
    { server: { settings: { maxConcurrentStreams: 2 } } },
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
