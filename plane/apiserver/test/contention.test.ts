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
const apply = { 'content-type': 'application/apply-patch+yaml' };

test('of 100 patches of one object at once all succeed and none is lost', async () => {
  await api.send('POST', configMaps, { metadata: { name: 'busy' } });
  const patches = Array.from({ length: 100 }, (_, index) =>
    api.send('PATCH', `${configMaps}/busy`, { data: { [`k${index}`]: 'v' } }, merge),
  );
  assert.deepEqual([...new Set((await Promise.all(patches)).map(({ status }) => status))], [200]);
  const { json } = await api.send('GET', `${configMaps}/busy`);
  assert.equal(Object.keys(json.data).length, 100);
});

test('of 30 applies by 30 managers at once each keeps its field', async () => {
  await api.send('POST', configMaps, { metadata: { name: 'shared' } });
  const applies = Array.from({ length: 30 }, (_, index) => {
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'shared' }, data: { [`k${index}`]: 'v' } };
    return api.send('PATCH', `${configMaps}/shared?fieldManager=m${index}`, object, apply);
  });
  assert.deepEqual([...new Set((await Promise.all(applies)).map(({ status }) => status))], [200]);
  const { json } = await api.send('GET', `${configMaps}/shared`);
  assert.equal(Object.keys(json.data).length, 30);
  const owners = json.metadata.managedFields.filter(({ operation }: { operation: string }) => operation === 'Apply');
  assert.equal(owners.length, 30);
});

test('of 20 replacements of one version at once one succeeds, and the others are conflicts', async () => {
  const { json } = await api.send('POST', configMaps, { metadata: { name: 'raced' } });
  const replies = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      api.send('PUT', `${configMaps}/raced`, { ...json, data: { a: String(index) } }),
    ),
  );
  assert.equal(replies.filter(({ status }) => status === 200).length, 1);
  assert.equal(replies.filter(({ status }) => status === 409).length, 19);
});

test('dryRun=All of every verb answers as the verb would and changes nothing', async () => {
  const { json: kept } = await api.send('POST', configMaps, { metadata: { name: 'kept' }, data: { a: '1' } });
  const one = `${configMaps}/kept?dryRun=All&fieldManager=m`;
  const applied = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'kept' }, data: { b: '2' } };
  const replies = [
    await api.send('POST', `${configMaps}?dryRun=All`, { metadata: { generateName: 'none-' } }),
    await api.send('PUT', one, { ...kept, data: { a: '2' } }),
    await api.send('PATCH', one, { data: { a: '3' } }, merge),
    await api.send('PATCH', one, applied, apply),
    await api.send('DELETE', one),
    await api.send('DELETE', `${configMaps}/kept`, { dryRun: ['All'] }),
    await api.send('DELETE', `${configMaps}?dryRun=All`),
  ];
  assert.deepEqual(
    replies.map(({ status }) => status),
    [201, 200, 200, 200, 200, 200, 200],
  );
  assert.deepEqual(replies[1]?.json.data, { a: '2' });
  assert.deepEqual(replies[3]?.json.data, { a: '1', b: '2' });
  assert.deepEqual((await api.send('GET', `${configMaps}/kept`)).json, kept);
  const { json } = await api.send('GET', configMaps);
  const names = json.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name);
  assert.equal(
    names.some((name: string) => name.startsWith('none-')),
    false,
  );
});

test('a collection is deleted as far as selectors and limit go', async () => {
  const labelled = (name: string, color: string) => ({ metadata: { name, labels: { color } } });
  for (const name of ['c1', 'c2', 'c3']) await api.send('POST', configMaps, labelled(name, 'red'));
  await api.send('POST', configMaps, labelled('c4', 'blue'));
  const left = async () => {
    const { json } = await api.send('GET', `${configMaps}?labelSelector=color`);
    return json.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name);
  };
  await api.send('DELETE', `${configMaps}?labelSelector=color%3Dred&limit=2`);
  assert.deepEqual(await left(), ['c3', 'c4']);
  await api.send('DELETE', `${configMaps}?labelSelector=color&fieldSelector=metadata.name%3Dc4`);
  assert.deepEqual(await left(), ['c3']);
});
