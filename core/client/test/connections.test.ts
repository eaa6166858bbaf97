import assert from 'node:assert/strict';
import type { Http2ServerResponse } from 'node:http2';
import net, { type AddressInfo } from 'node:net';
import { test } from 'node:test';
import { configMaps } from '@castellan/machinery';
import { realWorld, simulatedWorld, waitFor } from '@castellan/world';
import { ConnectionError, connect } from '../src/index.js';
import { certificate } from './self-signed.js';
import { reply, startTestServer } from './test-server.js';
import { configMap, key, nextOf, until, withServer } from './with-server.js';

const world = realWorld();

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
        deadlineMs: 30_000,
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
