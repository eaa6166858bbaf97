import assert from 'node:assert/strict';
import { get } from 'node:https';
import { after, before, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { type ServerUnderTest, startServer } from './server-under-test.js';

let server: ServerUnderTest;
before(async () => {
  server = await startServer();
  for (const name of ['a', 'b']) {
    const created = await server.send('POST', '/api/v1/namespaces/default/configmaps', {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name },
      data: { text: 'x'.repeat(100_000) },
    });
    assert.equal(created.status, 201);
  }
});
after(() => server.stop());

/** One request over HTTP/1.1, until the head of the reply is there. */
function headOverHttp1(path: string, headers: Record<string, string> = {}) {
  const { caCertificate, adminKey, adminCertificate } = server.certificates;
  return new Promise<{ headers: Record<string, unknown>; body: Promise<Buffer>; close: () => void }>(
    (resolve, reject) => {
      const options = { ca: caCertificate, key: adminKey, cert: adminCertificate, headers, timeout: 30_000 };
      const request = get(`${server.url}${path}`, options, (response) => {
        const body = response.toArray().then((chunks) => Buffer.concat(chunks));
        body.catch(() => {});
        resolve({ headers: response.headers, body, close: () => request.destroy() });
      });
      request.on('timeout', () => reject(new Error(`no head of a reply to ${path} within 30 s`)));
      request.on('error', reject);
    },
  );
}

test('over HTTP/1.1 a watch that has nothing to tell yet has begun', async () => {
  const reply = await headOverHttp1('/api/v1/namespaces/default/secrets?watch=1');
  assert.equal(reply.headers['content-type'], 'application/json');
  reply.close();
});

test('a large reply is packed for who asks for it, and a small one is not', async () => {
  const packed = await headOverHttp1('/api/v1/namespaces/default/configmaps', { 'accept-encoding': 'gzip' });
  assert.equal(packed.headers['content-encoding'], 'gzip');
  const list = JSON.parse(gunzipSync(await packed.body).toString());
  assert.equal(list.items.length, 2);
  const refused = await headOverHttp1('/api/v1/namespaces/default/configmaps', { 'accept-encoding': 'gzip;q=0' });
  assert.equal(refused.headers['content-encoding'], undefined);
  await refused.body;
  const small = await headOverHttp1('/api/v1/namespaces', { 'accept-encoding': 'gzip' });
  assert.equal(small.headers['content-encoding'], undefined);
  await small.body;
});

test('the paths that say watch before the resource are watches', async () => {
  const one = server.watch('/api/v1/watch/namespaces/default/configmaps/b');
  const { type, object } = await one.next();
  assert.deepEqual([type, object.metadata.name], ['ADDED', 'b']);
  one.close();
  const all = server.watch('/api/v1/watch/configmaps');
  assert.equal((await all.next()).object.metadata.name, 'a');
  all.close();
});

test('a list at what is no resourceVersion is refused in the words of kube-apiserver', async () => {
  const { status, json } = await server.send('GET', '/api/v1/configmaps?resourceVersion=x');
  assert.equal(status, 400);
  assert.equal(
    json.message,
    'invalid resource version: resourceVersion: Invalid value: "x": strconv.ParseUint: parsing "x": invalid syntax',
  );
});

test('a watch of a type that is not served names what is, streams included', async () => {
  const { status, json } = await server.send('GET', '/api/v1/configmaps?watch=1', undefined, { accept: 'text/html' });
  assert.equal(status, 406);
  assert.match(json.message, /^406: Not Acceptable\n\nAvailable representations: .*application\/json;stream=watch/);
});

test('a list is not shown as one object, nor one object as a list', async () => {
  const ask = (path: string, shape: string) =>
    server.send('GET', path, undefined, { accept: `application/json;as=${shape};v=v1;g=meta.k8s.io` });
  const list = await ask('/api/v1/configmaps', 'PartialObjectMetadata');
  assert.equal(list.status, 406);
  assert.match(list.json.message, /^you requested PartialObjectMetadata, but the requested object is a list/);
  const one = await ask('/api/v1/namespaces/default/configmaps/a', 'PartialObjectMetadataList');
  assert.equal(one.status, 406);
  const odd = await ask('/api/v1/configmaps?includeObject=Odd', 'Table');
  assert.equal(odd.status, 400);
});

test('events are asked for by the names that their fields have in each group', async () => {
  const core = '/api/v1/namespaces/default/events';
  const involvedObject = { kind: 'Pod', name: 'asked', namespace: 'default' };
  assert.equal((await server.send('POST', core, { metadata: { name: 'asked' }, involvedObject })).status, 201);
  const namesOf = async (path: string, selector: string) => {
    const { json } = await server.send('GET', `${path}?fieldSelector=${encodeURIComponent(selector)}`);
    return json.items?.map(({ metadata }: { readonly metadata: { readonly name: string } }) => metadata.name) ?? json;
  };
  assert.deepEqual(await namesOf(core, 'involvedObject.name=asked'), ['asked']);
  const events = '/apis/events.k8s.io/v1/namespaces/default/events';
  assert.deepEqual(await namesOf(events, 'regarding.name=asked'), ['asked']);
  assert.deepEqual(await namesOf(events, 'regarding.name=other'), []);
  assert.equal(
    (await namesOf(events, 'involvedObject.name=asked')).message,
    'field label not supported: involvedObject.name',
  );
});

test('what has no namespace may be asked for one, and is never of it', async () => {
  const { status, json } = await server.send('GET', '/api/v1/persistentvolumes?fieldSelector=metadata.namespace%3Dx');
  assert.deepEqual([status, json.items], [200, []]);
});
