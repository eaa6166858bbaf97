import assert from 'node:assert/strict';
import { test } from 'node:test';
import { simulatedWorld } from './simulated-world.js';
import { DeadlineError, waitFor } from './wait-for.js';

test('gives what the condition gives once it is there', async () => {
  const world = simulatedWorld(1);
  const condition = () => (world.clock.monotonicNow() >= 200 ? 'ready' : undefined);
  const found = await world.run(waitFor(world, condition, { what: 'the pod', deadlineMs: 1000, everyMs: 50 }), 5000);
  assert.equal(found, 'ready');
  assert.equal(world.clock.monotonicNow(), 200);
  assert.equal(world.pendingTimers, 0);
});

test('the error at the deadline names what was waited for', async () => {
  const world = simulatedWorld(1);
  let ready = 0;
  const condition = () => {
    ready = 2;
    return false as const;
  };
  const waiting = waitFor(world, condition, { what: () => `3 members to be ready (${ready} are)`, deadlineMs: 30_000 });
  await assert.rejects(world.run(waiting, 60_000), (error) => {
    assert.ok(error instanceof DeadlineError);
    assert.equal(error.message, 'waited 30 s for 3 members to be ready (2 are); it did not happen');
    assert.equal(error.what, '3 members to be ready (2 are)');
    return true;
  });
  assert.equal(world.clock.monotonicNow(), 30_000);
});

test('a look that hangs does not outlive the deadline', async () => {
  const world = simulatedWorld(1);
  let looked: AbortSignal | undefined;
  const hang = (signal: AbortSignal) => {
    looked = signal;
    return new Promise<true>(() => undefined);
  };
  await assert.rejects(world.run(waitFor(world, hang, { what: 'a reply', deadlineMs: 100 }), 1000), DeadlineError);
  assert.equal(looked?.aborted, true);
});

test('an abort ends the wait with its reason and leaves no timer', async () => {
  const world = simulatedWorld(1);
  const controller = new AbortController();
  const waiting = waitFor(world, () => false as const, {
    what: 'nothing',
    deadlineMs: 1000,
    signal: controller.signal,
  });
  world.clock.after(120, () => controller.abort(new Error('Ctrl-C')));
  await assert.rejects(world.run(waiting, 5000), /Ctrl-C/);
  assert.equal(world.clock.monotonicNow(), 120);
  assert.equal(world.pendingTimers, 0);
});

test('what the condition throws ends the wait', async () => {
  const world = simulatedWorld(1);
  const condition = () => {
    throw new Error('403');
  };
  await assert.rejects(world.run(waitFor(world, condition, { what: 'x', deadlineMs: 1000 }), 5000), /403/);
  assert.equal(world.pendingTimers, 0);
});
