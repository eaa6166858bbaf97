import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Keyspace, memoryKeyspace } from '@castellan/keyspace';
import { realWorld } from '@castellan/world';
import { type ApiRequest, type ApiServer, createApiServer, type ResponseWriter } from '../src/index.js';
import { mutate } from './fuzz/mutate.js';
import { SeededRandom } from './fuzz/seeded-random.js';
import { type FuzzRequest, firstRequests, validRequests } from './fuzz/valid-requests.js';

/** `npm run sim` sends 10,000. */
const requests = Number(process.env.CASTELLAN_FUZZ_REQUESTS ?? 2500);
const seed = Number(process.env.CASTELLAN_SEED ?? 1);
const mostGrownBytes = 300 * 1024 * 1024;
const deadlineMs = 60_000;
const refreshEvery = 200;

let keyspace: Keyspace;
let server: ApiServer;
/** Lines that the server logs are failures that it did not intend. */
const logged: string[] = [];

before(async () => {
  const world = realWorld();
  keyspace = memoryKeyspace(world);
  server = await createApiServer({ keyspace, world, log: (line) => void logged.push(line) });
});
after(async () => {
  await server.close();
  await keyspace.close();
});

/** Sends a request without a transport, and resolves with the status of its reply; a watch is left once it has begun. */
function send({ method, path, query, headers, body }: FuzzRequest): Promise<number> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no reply within ${deadlineMs} ms`)), deadlineMs);
    const closers: (() => void)[] = [];
    const parameters = new URLSearchParams(query);
    const request: ApiRequest = {
      method,
      path,
      query: parameters,
      headers,
      certificateUser: { name: 'fuzz', groups: ['system:masters', 'system:authenticated'] },
      body: () => Promise.resolve(body),
      onClose: (callback) => void closers.push(callback),
    };
    let status = 0;
    let isEnded = false;
    const finish = () => {
      if (isEnded) return;
      isEnded = true;
      clearTimeout(timer);
      for (const close of closers) close();
      resolve(status);
    };
    const isStream = parameters.has('watch') || path.includes('/watch/');
    const writer: ResponseWriter = {
      head: (code) => {
        status = code;
        if (isStream) setImmediate(finish);
      },
      write: () => true,
      end: finish,
      onDrain: () => {},
      get isEnded() {
        return isEnded;
      },
    };
    server.handle(request, writer).catch(reject);
  });
}

test(`${requests} requests gone wrong do no harm: each is answered, none by a failure of the server's own`, async (t) => {
  const rejections: unknown[] = [];
  const onRejection = (reason: unknown) => void rejections.push(reason);
  process.on('unhandledRejection', onRejection);
  try {
    for (const request of firstRequests) {
      const status = await send(request);
      assert.ok(status === 201 || status === 409, `${request.method} ${request.path} must be good: ${status}`);
    }
    const random = new SeededRandom(seed);
    const startBytes = process.memoryUsage().rss;
    const found: string[] = [];
    const byStatus = new Map<number, number>();
    for (let count = 0; count < requests; count += 1) {
      // What was deleted on the way is there again.
      if (count % refreshEvery === 0) for (const request of firstRequests) await send(request);
      const request = mutate(random.of(validRequests), random);
      const told = logged.length;
      const status = await send(request).catch((error: unknown) => {
        logged.push(String(error));
        return 0;
      });
      byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
      if (logged.length > told || status === 0)
        found.push(`${describe(request)}\n  ${logged.slice(told).join('\n  ')}`);
    }
    t.diagnostic(
      `seed ${seed}: ${[...byStatus]
        .sort(([a], [b]) => a - b)
        .map(([status, count]) => `${count} × ${status}`)
        .join(', ')}`,
    );
    assert.deepEqual(found.slice(0, 20), [], `seed ${seed}: ${found.length} of ${requests} requests found a mistake`);
    assert.deepEqual(rejections, []);
    const grown = process.memoryUsage().rss - startBytes;
    assert.ok(grown < mostGrownBytes, `memory grew by ${grown} bytes`);
    assert.equal(await send({ method: 'GET', path: '/readyz', query: '', headers: {}, body: new Uint8Array() }), 200);
  } finally {
    process.off('unhandledRejection', onRejection);
  }
});

function describe({ method, path, query, headers, body }: FuzzRequest): string {
  return `${method} ${path}?${query} ${JSON.stringify(headers)} ${Buffer.from(body).toString('utf8').slice(0, 2000)}`;
}
