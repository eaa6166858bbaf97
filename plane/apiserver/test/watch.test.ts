import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type ServerUnderTest, startServer } from './server-under-test.js';

let api: ServerUnderTest;
before(async () => {
  api = await startServer();
});
after(() => api.stop());

const configMaps = '/api/v1/namespaces/default/configmaps';
const merge = { 'content-type': 'application/merge-patch+json' };

async function make(name: string, labels: Record<string, string> = {}) {
  const { status, json } = await api.send('POST', configMaps, { metadata: { name, labels } });
  assert.equal(status, 201);
  return json;
}

test('A1 a list holds every write that was acknowledged before it', async () => {
  for (let index = 0; index < 50; index += 1) {
    const { metadata } = await make(`fresh-${index}`);
    const { json: list } = await api.send('GET', configMaps);
    assert.ok(list.items.some((item: { metadata: { name: string } }) => item.metadata.name === metadata.name));
    assert.ok(Number(list.metadata.resourceVersion) >= Number(metadata.resourceVersion));
  }
});

test('A2 a watch from any revision of the past tells every change since, in order, each once', async () => {
  const first = await make('order-0');
  const versions = [];
  for (let index = 1; index < 40; index += 1) versions.push((await make(`order-${index}`)).metadata.resourceVersion);
  for (const from of [first.metadata.resourceVersion, versions[10], versions.at(-2)]) {
    const watch = api.watch(`${configMaps}?watch=true&resourceVersion=${from}`);
    for (const expected of versions.filter((version) => Number(version) > Number(from))) {
      const { type, object } = await watch.next();
      assert.equal(type, 'ADDED');
      assert.equal(object.metadata.resourceVersion, expected);
    }
    watch.close();
  }
});

test('A2 a watch from a revision before the server was started tells what happened since', async () => {
  const first = await startServer();
  const { json: before } = await first.send('POST', configMaps, { metadata: { name: 'before' } });
  await first.send('POST', configMaps, { metadata: { name: 'between' } });
  await first.send('DELETE', `${configMaps}/between`);
  await first.send('POST', '/api/v1/namespaces/default/secrets', { metadata: { name: 'another-resource' } });
  await first.server.close();
  const second = await startServer({ keyspace: first.keyspace });
  const watch = second.watch(`${configMaps}?watch=true&resourceVersion=${before.metadata.resourceVersion}`);
  assert.equal((await watch.next()).type, 'ADDED');
  assert.equal((await watch.next()).type, 'DELETED');
  await second.send('POST', configMaps, { metadata: { name: 'after' } });
  assert.equal((await watch.next()).object.metadata.name, 'after');
  watch.close();
  await second.stop();
  await first.stop();
});

test('A2 a watch from before the compacted revision is told 410 Expired', async () => {
  const { metadata } = await make('compacted');
  await make('after-compaction');
  const secrets = '/api/v1/namespaces/default/secrets';
  await api.keyspace.compact(await api.keyspace.revision());
  const watch = api.watch(`${secrets}?watch=true&resourceVersion=${Number(metadata.resourceVersion) - 1}`);
  assert.equal(await watch.status, 200);
  const { type, object } = await watch.next();
  assert.equal(type, 'ERROR');
  assert.equal(object.code, 410);
  assert.equal(object.reason, 'Expired');
  await watch.ended;
});

test('A3 sendInitialEvents sends the state, then one marked bookmark, then changes', async () => {
  const watch = api.watch(
    '/api/v1/namespaces?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true',
  );
  const names = [];
  let event = await watch.next();
  for (; event.type === 'ADDED'; event = await watch.next()) names.push(event.object.metadata.name);
  assert.deepEqual(names, ['default', 'kube-node-lease', 'kube-public', 'kube-system']);
  assert.equal(event.type, 'BOOKMARK');
  assert.equal(event.object.metadata.annotations['k8s.io/initial-events-end'], 'true');
  await api.send('POST', '/api/v1/namespaces', { metadata: { name: 'later' } });
  assert.equal((await watch.next()).object.metadata.name, 'later');
  watch.close();
});

test('sendInitialEvents without NotOlderThan is refused, so that no informer waits for ever', async () => {
  const refused = await api.send('GET', `${configMaps}?watch=true&sendInitialEvents=true`);
  assert.equal(refused.status, 422);
});

test('A4 an object that leaves the selection is told as deleted, as it was, at the new revision', async () => {
  await make('selected', { app: 'a' });
  const { json: list } = await api.send('GET', configMaps);
  const from = list.metadata.resourceVersion;
  const watch = api.watch(`${configMaps}?watch=true&labelSelector=app%3Da&resourceVersion=${from}`);
  const moved = await api.send('PATCH', `${configMaps}/selected`, { metadata: { labels: { app: 'b' } } }, merge);
  const left = await watch.next();
  assert.equal(left.type, 'DELETED');
  assert.equal(left.object.metadata.labels.app, 'a');
  assert.equal(left.object.metadata.resourceVersion, moved.json.metadata.resourceVersion);
  await api.send('PATCH', `${configMaps}/selected`, { metadata: { labels: { app: 'a' } } }, merge);
  assert.equal((await watch.next()).type, 'ADDED');
  watch.close();
});

test('a list from a revision that has not been waits, then says so', async () => {
  const { status, json } = await api.send('GET', `${configMaps}?resourceVersion=99999999`);
  assert.equal(status, 504);
  assert.equal(json.details.causes[0].reason, 'ResourceVersionTooLarge');
});

test('pages of a list are all of one revision', async () => {
  const { json: first } = await api.send('GET', `${configMaps}?limit=3`);
  await make('aaa-between-pages');
  const names = first.items.map((item: { metadata: { name: string } }) => item.metadata.name);
  let token = first.metadata.continue;
  while (token !== undefined) {
    const { json: page } = await api.send('GET', `${configMaps}?limit=3&continue=${token}`);
    assert.equal(page.metadata.resourceVersion, first.metadata.resourceVersion);
    for (const { metadata } of page.items) names.push(metadata.name);
    token = page.metadata.continue;
  }
  assert.equal(new Set(names).size, names.length);
  assert.ok(!names.includes('aaa-between-pages'));
  assert.equal(names.length, first.items.length + first.metadata.remainingItemCount);
});

test('a watch of tables carries the columns once', async () => {
  const stream = api.watch(`${configMaps}?watch=true`);
  stream.close();
  const reply = await api.send('GET', `${configMaps}?watch=true&timeoutSeconds=1`, undefined, {
    accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json',
  });
  const events = reply.text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.equal(events[0].object.kind, 'Table');
  assert.deepEqual(
    events[0].object.columnDefinitions.map(({ name }: { name: string }) => name),
    ['Name', 'Data', 'Age'],
  );
  assert.deepEqual(events[1].object.columnDefinitions, null);
});

test('A5 one watcher that takes nothing holds up neither writers nor other watchers', async () => {
  const stuck = api.watch(`${configMaps}?watch=true`);
  await stuck.next();
  stuck.pause();
  const { json: list } = await api.send('GET', configMaps);
  const live = api.watch(`${configMaps}?watch=true&resourceVersion=${list.metadata.resourceVersion}`);
  const text = 'x'.repeat(200_000);
  for (let index = 0; index < 40; index += 1) {
    await api.send('POST', configMaps, { metadata: { name: `big-${index}` }, data: { text } });
  }
  for (let index = 0; index < 40; index += 1) assert.equal((await live.next()).object.metadata.name, `big-${index}`);
  live.close();
  stuck.close();
});
