import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubernetesObject, ResourceType } from '@castellan/machinery';
import { nextOf, withServer } from './with-server.js';

interface Ledger extends KubernetesObject {
  readonly spec: { readonly exact: number | bigint };
}

const ledgers: ResourceType<Ledger> = {
  group: 'example.com',
  version: 'v1',
  kind: 'Ledger',
  plural: 'ledgers',
  isNamespaced: true,
};
const text =
  '{"kind":"Ledger","apiVersion":"example.com/v1","metadata":{"name":"a"},"spec":{"exact":9007199254740993}}';

test('an integer of 64 bits that a controller reads and puts back is what it was', async () => {
  const sent: string[] = [];
  await withServer(
    async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(Buffer.from(chunk));
      if (request.method === 'PUT') sent.push(Buffer.concat(chunks).toString('utf8'));
      const isWatch = request.url?.includes('watch=') === true;
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(isWatch ? `{"type":"ADDED","object":${text}}\n` : text);
    },
    async (client) => {
      const read = await client.get(ledgers, { namespace: 'default', name: 'a' });
      assert.equal(read?.spec.exact, 9007199254740993n);
      await client.update(ledgers, { ...read, metadata: { namespace: 'default', name: 'a' } });
      const event = await nextOf(client.watch(ledgers, {}));
      assert.deepEqual(event, { type: 'ADDED', object: read });
    },
  );
  assert.equal(sent.length, 1);
  assert.match(sent[0] ?? '', /"exact":9007199254740993/);
});
