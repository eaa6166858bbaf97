import assert from 'node:assert/strict';
import { test } from 'node:test';
import { simulatedWorld } from '@castellan/world';
import { busyTicks, usedBytes } from './host-usage.js';
import { residentBytes, ticksOf } from './process-usage.js';
import { type Rate, UsageMeter } from './usage-meter.js';

const startMs = Date.parse('2026-01-01T00:00:00Z');

/** Things that use so many processors all the time since they began. */
function meterOf(cores: Readonly<Record<string, number>>, startedAtMs: Readonly<Record<string, number>> = {}) {
  const world = simulatedWorld(1);
  const names = new Set(Object.keys(cores));
  const meter = new UsageMeter(world, () =>
    [...names].map((id) => {
      const began = startedAtMs[id] ?? startMs - 3_600_000;
      const read = () => ({ cpuSeconds: ((world.clock.now() - began) / 1_000) * (cores[id] ?? 0), memoryBytes: 4096 });
      return { id, startedAtMs: began, read };
    }),
  );
  const measure = async () => {
    const measured = meter.measure();
    await world.advance(500);
    return await measured;
  };
  return { world, names, measure };
}

const shown = (rate: Rate | undefined) => [rate?.cores.toFixed(3), rate?.windowMs];

test('who asks first waits half a second, and is told what was used within it', async () => {
  const { measure } = meterOf({ busy: 1.5, idle: 0 });
  const rates = await measure();
  assert.deepEqual(shown(rates.get('busy')), ['1.500', 500]);
  assert.deepEqual(shown(rates.get('idle')), ['0.000', 500]);
  assert.equal(rates.get('busy')?.memoryBytes, 4096);
});

test('who asks again is told of the time since then, and the same within five seconds', async () => {
  const { world, measure } = meterOf({ busy: 2 });
  await measure();
  await world.advance(4_000);
  assert.deepEqual(shown((await measure()).get('busy')), ['2.000', 500]);
  await world.advance(10_000);
  assert.deepEqual(shown((await measure()).get('busy')), ['2.000', 14_500]);
  await world.advance(61_000);
  assert.deepEqual(shown((await measure()).get('busy')), ['2.000', 500], 'what is older than a minute is forgotten');
});

test('what began after the last look is told since it began, and what is gone is not told', async () => {
  const { world, names, measure } = meterOf({ old: 1, new: 0.5 }, { new: startMs + 1_000 });
  names.delete('new');
  await measure();
  await world.advance(2_500);
  names.add('new');
  assert.deepEqual(shown((await measure()).get('new')), ['0.500', 2_000]);
  names.delete('old');
  await world.advance(10_000);
  assert.deepEqual([...(await measure()).keys()], ['new']);
});

test('figures are read from the files of the kernel, whatever the name of a program is', () => {
  const stat = `7 (a) b (c) S ${[1, 7, 7, 0, -1, 4194560, 100, 0, 0, 0, 11, 22, 33, 44, 20, 0].join(' ')}`;
  assert.equal(ticksOf(stat), 110);
  assert.equal(residentBytes('Name:\tx\nVmRSS:\t    2048 kB\nThreads:\t1\n'), 2_097_152);
  assert.equal(busyTicks('cpu  100 20 30 5000 600 7 8 9 50 0\ncpu0 1 2 3 4\n'), 174);
  assert.equal(usedBytes('MemTotal:       1000 kB\nMemFree:         100 kB\nMemAvailable:    400 kB\n'), 614_400);
});
