import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseSchedule, ScheduleError } from './cron-schedule.js';
import { TimeZone } from './time-zone.js';

const utc = new TimeZone('UTC');

function times(schedule: string, from: string, count: number, zone = utc): readonly string[] {
  const found: string[] = [];
  let ms: number | undefined = Date.parse(from);
  for (let index = 0; index < count && ms !== undefined; index++) {
    ms = parseSchedule(schedule).next(ms, zone);
    found.push(ms === undefined ? 'never' : zone.rfc3339(ms));
  }
  return found;
}

test('fields, names, ranges, steps and descriptors say when', () => {
  const from = '2026-01-01T00:00:30Z';
  assert.deepEqual(times('*/20 * * * *', from, 2), ['2026-01-01T00:20:00Z', '2026-01-01T00:40:00Z']);
  assert.deepEqual(times('5/30 2 * * *', from, 2), ['2026-01-01T02:05:00Z', '2026-01-01T02:35:00Z']);
  assert.deepEqual(times('0 9-10 * mar MON-tue', from, 3), [
    '2026-03-02T09:00:00Z',
    '2026-03-02T10:00:00Z',
    '2026-03-03T09:00:00Z',
  ]);
  assert.deepEqual(times('@weekly', from, 1), ['2026-01-04T00:00:00Z']);
  assert.deepEqual(times('0 0 29 2 *', from, 1), ['2028-02-29T00:00:00Z']);
  assert.deepEqual(times('0 0 30 2 *', from, 1), ['never']);
});

test('when day of month and day of week are both restricted one is enough; a star with a step restricts', () => {
  assert.deepEqual(times('0 0 13 * 5', '2026-01-01T00:00:00Z', 3), [
    '2026-01-02T00:00:00Z',
    '2026-01-09T00:00:00Z',
    '2026-01-13T00:00:00Z',
  ]);
  assert.deepEqual(times('0 0 */10 * 1', '2026-01-01T00:00:00Z', 2), ['2026-01-05T00:00:00Z', '2026-01-11T00:00:00Z']);
});

test('@every counts from the last time, in whole seconds', () => {
  assert.deepEqual(times('@every 1h30m', '2026-01-01T00:00:00.700Z', 2), [
    '2026-01-01T01:30:00Z',
    '2026-01-01T03:00:00Z',
  ]);
  assert.deepEqual(times('@every 10ms', '2026-01-01T00:00:00Z', 1), ['2026-01-01T00:00:01Z']);
});

test('what a clock skips when it is put forward is not due that day', () => {
  const zone = new TimeZone('Europe/Berlin');
  assert.deepEqual(times('30 2 * * *', '2026-03-28T12:00:00Z', 1, zone), ['2026-03-30T02:30:00+02:00']);
  assert.deepEqual(times('0 * * * *', '2026-03-29T00:30:00Z', 2, zone), [
    '2026-03-29T03:00:00+02:00',
    '2026-03-29T04:00:00+02:00',
  ]);
});

test('what a clock shows twice when it is put back is due twice', () => {
  const zone = new TimeZone('America/New_York');
  assert.deepEqual(times('30 1 * * *', '2026-11-01T00:00:00Z', 3, zone), [
    '2026-11-01T01:30:00-04:00',
    '2026-11-01T01:30:00-05:00',
    '2026-11-02T01:30:00-05:00',
  ]);
});

test('a midnight that clocks skip is no day that is lost', () => {
  const zone = new TimeZone('America/Havana');
  assert.deepEqual(times('30 1 8 3 *', '2026-03-07T12:00:00Z', 1, zone), ['2026-03-08T01:30:00-04:00']);
});

test('what cannot be read is refused', () => {
  for (const text of [
    '',
    '* * * *',
    '60 * * * *',
    '* * 0 * *',
    '* * * * 7',
    '5-1 * * * *',
    '*/0 * * * *',
    '1-2-3 * * * *',
  ]) {
    assert.throws(() => parseSchedule(text), ScheduleError, text);
  }
  for (const text of ['@often', '@every', '@every day', '* * * foo *']) {
    assert.throws(() => parseSchedule(text), ScheduleError, text);
  }
});

/** One field as text, and as the numbers that it means. */
function field(min: number, max: number) {
  const value = fc.integer({ min, max });
  const range = fc.tuple(value, value).map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const);
  const from = (first: number, last: number, step = 1) => {
    const numbers: number[] = [];
    for (let each = first; each <= last; each += step) numbers.push(each);
    return numbers;
  };
  const part = fc.oneof(
    value.map((each) => ({ text: `${each}`, values: [each], isStar: false })),
    range.map(([first, last]) => ({ text: `${first}-${last}`, values: from(first, last), isStar: false })),
    fc.tuple(range, fc.integer({ min: 1, max: 9 })).map(([[first, last], step]) => {
      return { text: `${first}-${last}/${step}`, values: from(first, last, step), isStar: false };
    }),
    fc.constant({ text: '*', values: from(min, max), isStar: true }),
  );
  return fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => ({
    text: parts.map(({ text }) => text).join(','),
    values: parts.flatMap(({ values }) => values),
    isStar: parts.some(({ isStar }) => isStar),
  }));
}

test('the next time is the one that a look at every minute finds', () => {
  const zones = ['UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kathmandu', 'America/Havana'];
  const fields = fc.tuple(field(0, 59), field(0, 23), field(1, 31), field(1, 12), field(0, 6));
  const starts = fc.integer({ min: Date.parse('2026-01-01'), max: Date.parse('2026-12-31') });
  // Days around the changes of clocks are drawn as often as all others.
  const changes = fc.tuple(
    fc.constantFrom('2026-03-08', '2026-03-29', '2026-04-05', '2026-10-04', '2026-10-25', '2026-11-01'),
    fc.integer({ min: -36, max: 36 }),
  );
  const near = changes.map(([day, hours]) => Date.parse(day) + hours * 3_600_000);
  fc.assert(
    fc.property(fields, fc.constantFrom(...zones), fc.oneof(starts, near), (drawn, name, start) => {
      const zone = new TimeZone(name);
      const [minute, hour, day, month, weekday] = drawn;
      const found = parseSchedule(drawn.map(({ text }) => text).join(' ')).next(start, zone);
      const isDue = (ms: number) => {
        const wall = new Date(zone.wall(ms));
        const [isDay, isWeekday] = [day.values.includes(wall.getUTCDate()), weekday.values.includes(wall.getUTCDay())];
        return (
          minute.values.includes(wall.getUTCMinutes()) &&
          hour.values.includes(wall.getUTCHours()) &&
          month.values.includes(wall.getUTCMonth() + 1) &&
          (day.isStar || weekday.isStar ? isDay && isWeekday : isDay || isWeekday)
        );
      };
      const first = Math.floor(start / 60_000) * 60_000 + 60_000;
      const limit = first + 3 * 86_400_000;
      let naive = first;
      while (naive < limit && !isDue(naive)) naive += 60_000;
      if (naive < limit) assert.equal(found, naive);
      else assert.ok(found === undefined || found >= limit);
    }),
    { numRuns: 80 },
  );
});
