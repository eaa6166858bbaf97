import assert from 'node:assert/strict';
import { request } from 'node:https';
import { after, before, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { type ServerUnderTest, startServer } from './server-under-test.js';

const collection = '/api/v1/namespaces/default/configmaps';
const names = Array.from({ length: 300 }, (_, index) => `large-${String(index).padStart(3, '0')}`);
let server: ServerUnderTest;

before(async () => {
  server = await startServer();
  const text = 'ä'.repeat(1000);
  await Promise.all(names.map((name) => server.send('POST', collection, { metadata: { name }, data: { text } })));
});
after(() => server.stop());

test('a list too large for one piece is whole, and the same when it is asked for again', async () => {
  const first = await server.send('GET', collection);
  assert.deepEqual(namesIn(first.text), names);
  assert.equal(first.json.kind, 'ConfigMapList');
  assert.equal(first.json.items[299].data.text, 'ä'.repeat(1000));
  assert.deepEqual((await server.send('GET', collection)).json.items, first.json.items);
});

test('an object that was changed is listed as it is now', async () => {
  await server.send('GET', collection);
  const patch = { data: { text: 'changed' } };
  await server.send('PATCH', `${collection}/large-007`, patch, { 'content-type': 'application/merge-patch+json' });
  const { json } = await server.send('GET', collection);
  assert.equal(json.items[7].data.text, 'changed');
});

test('over HTTP/1.1 a large list is sent in pieces, and packed for clients that unpack', async () => {
  const plain = await overHttp1({});
  assert.equal(plain.headers['transfer-encoding'], 'chunked');
  const packed = await overHttp1({ 'accept-encoding': 'gzip' });
  assert.equal(packed.headers['content-encoding'], 'gzip');
  assert.equal(packed.headers.vary, 'Accept-Encoding');
  assert.equal(gunzipSync(packed.body).toString(), plain.body.toString());
  assert.deepEqual(namesIn(plain.body.toString()), names);
});

test('lists that many clients read slowly at once, over HTTP/1.1 and HTTP/2, are whole', async () => {
  const { text } = await server.send('GET', collection);
  assert.deepEqual(namesIn(text), names);
  const slow = Array.from({ length: 8 }, () => overHttp1({}, { isSlow: true }));
  const fast = Array.from({ length: 8 }, () => server.send('GET', collection));
  for (const { body } of await Promise.all(slow)) assert.equal(body.toString(), text);
  for (const reply of await Promise.all(fast)) assert.equal(reply.text, text);
});

test('a client that goes away in the middle of a large list harms nobody', async () => {
  await new Promise<void>((resolve) => {
    const call = get({}, (reply) => {
      reply.once('data', () => call.destroy());
      reply.on('error', () => {});
      reply.on('close', () => resolve());
    });
  });
  assert.deepEqual(namesIn((await server.send('GET', collection)).text), names);
});

function namesIn(text: string): readonly string[] {
  const { items } = JSON.parse(text) as { items: readonly { metadata: { name: string } }[] };
  return items.map(({ metadata }) => metadata.name).filter((name) => name.startsWith('large-'));
}

function get(headers: Readonly<Record<string, string>>, onReply: Parameters<typeof request>[2]) {
  const { caCertificate, adminCertificate, adminKey } = server.certificates;
  const tls = { ca: caCertificate, cert: adminCertificate, key: adminKey };
  const call = request(new URL(collection, server.url), { ...tls, headers, agent: false }, onReply);
  call.on('error', () => {});
  return call.end();
}

/** A slow client takes a part, and looks up again when others had their turn. */
function overHttp1(headers: Readonly<Record<string, string>>, { isSlow } = { isSlow: false }) {
  return new Promise<{ readonly headers: NodeJS.Dict<string | string[]>; readonly body: Buffer }>((resolve) => {
    get(headers, (reply) => {
      const chunks: Buffer[] = [];
      reply.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        if (!isSlow) return;
        reply.pause();
        setImmediate(() => reply.resume());
      });
      reply.on('end', () => resolve({ headers: reply.headers, body: Buffer.concat(chunks) }));
    });
  });
}
