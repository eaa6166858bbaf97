import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configMaps, isStatusError, StatusError } from '@castellan/machinery';
import { configMap, nextOf, until, withServer } from './with-server.js';

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
