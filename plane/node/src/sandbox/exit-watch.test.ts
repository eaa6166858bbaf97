import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { simulatedWorld } from '@castellan/world';
import { ExitWatch } from './exit-watch.js';

test('a start that cannot be looked at is asked for by who can handle it, and others are looked at all the same', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'castellan-exit-watch-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const world = simulatedWorld(1);
  const watch = new ExitWatch(world);
  const told: string[] = [];
  const listenerOf = (name: string, isOver: () => boolean) => {
    mkdirSync(join(directory, name, 'state'), { recursive: true });
    watch.watch(join(directory, name), { isOver, exited: () => told.push(name) });
  };
  listenerOf('broken', () => {
    throw new Error('its files cannot be read');
  });
  listenerOf('ended', () => true);
  listenerOf('runs', () => false);
  await world.advance(2_000);
  watch.close();
  assert.deepEqual(told, ['broken', 'ended']);
});
