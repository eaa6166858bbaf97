import { once } from 'node:events';
import { createServer } from 'node:http';
import { metadataOnly, podOf } from './pods.mjs';

const startRevision = 1_000_000;
const expired = {
  type: 'ERROR',
  object: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', reason: 'Expired', code: 410 },
};

/**
 * An API server that has pods and nothing else, over plain HTTP: lists, watches, and watches that begin with the list.
 *
 * options.pods, podBytes    how many there are, and the JSON of each
 * options.events, eventBytes    changes that a watch sends as fast as they are taken
 * options.isCut    the first watch ends with 410
 * A watch that is through with all this sends a pod that is called `end`.
 */
export async function startPodServer(options) {
  const pods = Array.from({ length: options.pods }, (_, at) => podOf(at, options.podBytes, startRevision + at));
  const listOf = (items, kind) =>
    Buffer.from(JSON.stringify({ apiVersion: 'v1', kind, metadata: { resourceVersion: '2000000' }, items }));
  const whole = listOf(pods, 'PodList');
  const metadata = listOf(pods.map(metadataOnly), 'PartialObjectMetadataList');
  let watches = 0;
  let onFirstRequest = () => {};
  const firstRequest = new Promise((resolve) => {
    onFirstRequest = () => resolve(performance.now());
  });
  const server = createServer((request, response) => {
    onFirstRequest();
    const { pathname, searchParams } = new URL(request.url, 'http://localhost');
    const isMetadata = request.headers.accept?.includes('PartialObjectMetadata') === true;
    const isWatch = searchParams.get('watch') === 'true' || searchParams.get('watch') === '1';
    const known = pathname === '/api/v1/pods';
    response.writeHead(known ? 200 : 404, { 'content-type': 'application/json' });
    if (!known) response.end('{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","code":404}');
    else if (!isWatch) response.end(isMetadata ? metadata : whole);
    else void watch(response, searchParams.get('sendInitialEvents') === 'true', isMetadata).catch(() => {});
  });
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    firstRequest,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };

  async function watch(response, isInitial, isMetadata) {
    const shown = isMetadata ? metadataOnly : (pod) => pod;
    if (isInitial) {
      for (const pod of pods) await send(response, line('ADDED', shown(pod)));
      await send(response, line('BOOKMARK', bookmark()));
    }
    watches += 1;
    if (options.isCut && watches === 1) {
      response.end(`${JSON.stringify(expired)}\n`);
      return;
    }
    for await (const chunk of changes()) await send(response, chunk);
    const { metadata: last, ...rest } = podOf(0, 0, 9_000_000);
    await send(response, line('ADDED', shown({ ...rest, metadata: { ...last, name: 'end', uid: 'end' } })));
  }

  function* changes() {
    const { events = 0, eventBytes } = options;
    // Each event is newer than all before it: its revision replaces the one in the line.
    const parts = Array.from({ length: events === 0 ? 0 : 500 }, (_, at) =>
      line('MODIFIED', podOf(at % options.pods, eventBytes, 0)).split('"resourceVersion":"0"'),
    );
    for (let at = 0; at < events; ) {
      let chunk = '';
      for (; chunk.length < 262_144 && at < events; at += 1) {
        chunk += parts[at % parts.length].join(`"resourceVersion":"${3_000_000 + at}"`);
      }
      yield chunk;
    }
  }
}

function bookmark() {
  const annotations = { 'k8s.io/initial-events-end': 'true' };
  return { apiVersion: 'v1', kind: 'Pod', metadata: { resourceVersion: '2000000', annotations } };
}

function line(type, object) {
  return `${JSON.stringify({ type, object })}\n`;
}

async function send(response, text) {
  if (response.destroyed) throw new Error('the watch was closed');
  if (response.write(text)) return;
  const settled = new AbortController();
  const { signal } = settled;
  await Promise.race([once(response, 'drain', { signal }), once(response, 'close', { signal })]).finally(() =>
    settled.abort(),
  );
}
