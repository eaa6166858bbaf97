import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { realWorld } from './real-world.js';

const { clock, random } = realWorld();

test('a sleep takes its time and leaves no listener on its signal', async () => {
  const { signal } = new AbortController();
  const counts = countListeners(signal);
  const before = clock.monotonicNow();
  await clock.sleep(20, signal);
  assert.ok(clock.monotonicNow() - before >= 19);
  assert.deepEqual(counts, { added: 1, removed: 1 });
});

test('an aborted sleep rejects with the reason of its signal', async () => {
  const controller = new AbortController();
  const reason = new Error('stopping');
  const sleeping = clock.sleep(600_000, controller.signal);
  controller.abort(reason);
  await assert.rejects(sleeping, reason);
  await assert.rejects(clock.sleep(600_000, controller.signal), reason);
});

test('a cancelled timer does not fire', async () => {
  const fired: string[] = [];
  const cancel = clock.after(1, () => fired.push('cancelled'));
  await new Promise<void>((resolve) => {
    clock.after(5, () => {
      fired.push('kept');
      resolve();
    });
    cancel();
    // `after` does not keep the process alive, this does.
    void clock.sleep(20);
  });
  assert.deepEqual(fired, ['kept']);
});

test('a timer longer than 31 bits of milliseconds does not fire at once', async () => {
  let hasFired = false;
  const cancel = clock.after(2 ** 31 + 1000, () => {
    hasFired = true;
  });
  await clock.sleep(20);
  cancel();
  assert.equal(hasFired, false);
});

test('a timer does not keep the process alive, a sleep does', async () => {
  const program = (body: string) =>
    `const { realWorld } = await import(${JSON.stringify(new URL('./real-world.js', import.meta.url).href)});
     const { clock } = realWorld(); ${body}`;
  const run = async (body: string) => {
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program(body)], {
      timeout: 20_000,
    });
    return stdout;
  };
  assert.equal(await run('clock.after(600000, () => {});'), '');
  assert.equal(await run('void clock.sleep(50).then(() => console.log("slept"));'), 'slept\n');
});

test('random numbers lie in [0, 1), names keep to their alphabet and no two uuids are equal', () => {
  for (let round = 0; round < 1000; round += 1) {
    const value = random.next();
    assert.ok(value >= 0 && value < 1);
  }
  assert.match(random.string(200), /^[bcdfghjklmnpqrstvwxz2456789]{200}$/);
  assert.match(random.string(8, 'ab'), /^[ab]{8}$/);
  const uuids = Array.from({ length: 100 }, () => random.uuid());
  for (const uuid of uuids) {
    assert.match(uuid, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  }
  assert.equal(new Set(uuids).size, uuids.length);
});

function countListeners(signal: AbortSignal): { added: number; removed: number } {
  const counts = { added: 0, removed: 0 };
  const { addEventListener, removeEventListener } = signal;
  signal.addEventListener = (...args: Parameters<typeof addEventListener>) => {
    counts.added += 1;
    addEventListener.apply(signal, args);
  };
  signal.removeEventListener = (...args: Parameters<typeof removeEventListener>) => {
    counts.removed += 1;
    removeEventListener.apply(signal, args);
  };
  return counts;
}
