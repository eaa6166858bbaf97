import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { rememberNodes, rememberStopped } from './remembered-nodes.js';

async function newDirectory(context: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'castellan-nodes-'));
  context.after(() => rm(directory, { recursive: true }));
  return directory;
}

const host = hostname().toLowerCase();

test('one node has the name of the machine; of more the others are numbered, and their zones go round', async (t) => {
  const directory = await newDirectory(t);
  assert.deepEqual(await rememberNodes(directory, {}), [{ name: host, isStopped: false }]);
  assert.deepEqual(await rememberNodes(directory, { count: 3, zones: ['a', 'b'] }), [
    { name: host, zone: 'a', isStopped: false },
    { name: `${host}-2`, zone: 'b', isStopped: false },
    { name: `${host}-3`, zone: 'a', isStopped: false },
  ]);
});

test('fewer nodes stop the rest, which keep their names; no number leaves all as they were', async (t) => {
  const directory = await newDirectory(t);
  await writeFile(
    join(directory, 'nodes.json'),
    JSON.stringify([{ name: 'old' }, { name: 'old-2' }, { name: 'old-3' }]),
  );
  const areStopped = async (wish: Parameters<typeof rememberNodes>[1]) =>
    (await rememberNodes(directory, wish)).map(({ name, isStopped }) => [name, isStopped]);
  assert.deepEqual(await areStopped({ count: 1 }), [
    ['old', false],
    ['old-2', true],
    ['old-3', true],
  ]);
  await rememberStopped(directory, 'old', true);
  await rememberStopped(directory, 'old-3', false);
  const switched = [
    ['old', true],
    ['old-2', true],
    ['old-3', false],
  ];
  assert.deepEqual(await areStopped({}), switched);
  assert.deepEqual(await areStopped({}), switched);
  assert.deepEqual(await areStopped({ count: 4 }), [
    ['old', false],
    ['old-2', false],
    ['old-3', false],
    ['old-4', false],
  ]);
});

test('a file of nodes that is none is named, with what to do', async (t) => {
  const directory = await newDirectory(t);
  await writeFile(join(directory, 'nodes.json'), '{"name":"a"}');
  await assert.rejects(rememberNodes(directory, {}), /nodes\.json is not a list of nodes; next: restore it/);
});
