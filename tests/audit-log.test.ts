import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { configMaps } from '@castellan/machinery';
import { waitFor } from '@castellan/world';
import { PlaneProcess, world } from './plane-process.js';

let plane: PlaneProcess;

before(async () => {
  plane = await PlaneProcess.create();
});
after(async () => await plane.remove());

test('a plane that is told a file for its audit log writes down who asked for what', async () => {
  const path = join(plane.directory, 'audit', 'log');
  await plane.up(['--no-controllers', '--operators', 'none', '--audit-log', path]);
  const client = await plane.client();
  await client.create(configMaps, { metadata: { namespace: 'default', name: 'told' }, data: { word: 'unsaid' } });
  const event = await waitFor(
    world,
    async () => {
      const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1);
      return lines.map((line) => JSON.parse(line)).find((each) => each.verb === 'create');
    },
    { what: 'the audit log to tell of the write', deadlineMs: 30_000 },
  );
  assert.equal(event.objectRef.resource, 'configmaps');
  assert.equal(event.user.username, 'castellan-admin');
  assert.ok(!readFileSync(path, 'utf8').includes('unsaid'));
});
