import type { TimeZone, WallMs } from './time-zone.js';

/** When something is due. */
export interface Schedule {
  /** The first time after `afterMs`; `undefined` when there is none within five years. */
  next(afterMs: number, zone: TimeZone): number | undefined;
}

/** A schedule that cannot be read. */
export class ScheduleError extends Error {
  override readonly name = 'ScheduleError';
}

interface Field {
  readonly values: ReadonlySet<number>;
  /** Any value will do, as with `*`. */
  readonly isAny: boolean;
}

type WallFields = Readonly<Record<'minute' | 'hour' | 'day' | 'month' | 'weekday', Field>>;

interface Bounds {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  /** Names of the values from `min` on. */
  readonly names?: readonly string[];
}

const bounds: readonly Bounds[] = [
  { name: 'minute', min: 0, max: 59 },
  { name: 'hour', min: 0, max: 23 },
  { name: 'day of month', min: 1, max: 31 },
  { name: 'month', min: 1, max: 12, names: 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ') },
  { name: 'day of week', min: 0, max: 6, names: 'sun mon tue wed thu fri sat'.split(' ') },
];

const descriptors: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};

const unitMs: Readonly<Record<string, number>> = {
  h: 3_600_000,
  m: 60_000,
  s: 1_000,
  ms: 1,
  us: 0.001,
  µs: 0.001,
  ns: 1e-6,
};
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const mostDays = 5 * 366;

/**
 * Reads a schedule in the dialect of CronJobs: five fields, with names, lists, ranges and steps, a descriptor, or `@every 1h30m`.
 * Source: the API reference of CronJob; the standard parser of the library robfig/cron, which decides what it means.
 *
 * @throws ScheduleError
 */
export function parseSchedule(text: string): Schedule {
  const every = /^@every (.+)$/.exec(text)?.[1];
  if (every !== undefined) return new Interval(parseDuration(every));
  const fields = (Object.hasOwn(descriptors, text) ? (descriptors[text] ?? text) : text).trim().split(/\s+/);
  if (fields.length !== bounds.length) {
    throw new ScheduleError(`expected exactly 5 fields, found ${fields.length}: [${fields.join(' ')}]`);
  }
  const [minute, hour, day, month, weekday] = bounds.map((bound, index) => parseField(fields[index] ?? '', bound));
  if (!minute || !hour || !day || !month || !weekday) throw new Error('five bounds give five fields');
  return new WallClock({ minute, hour, day, month, weekday });
}

class Interval implements Schedule {
  readonly #everyMs: number;

  /** At least a second, and whole ones. */
  constructor(everyMs: number) {
    this.#everyMs = Math.max(1, Math.floor(everyMs / 1_000)) * 1_000;
  }

  next(afterMs: number): number {
    return Math.floor(afterMs / 1_000) * 1_000 + this.#everyMs;
  }
}

class WallClock implements Schedule {
  readonly #fields: WallFields;

  constructor(fields: WallFields) {
    this.#fields = fields;
  }

  /**
   * The first minute that clocks show as the fields say. What a clock skips when it is put forward is not due that day; what
   * it shows twice when it is put back is due twice.
   */
  next(afterMs: number, zone: TimeZone): number | undefined {
    const limitMs = afterMs + mostDays * dayMs;
    let ms = Math.floor(afterMs / minuteMs) * minuteMs + minuteMs;
    while (ms <= limitMs) {
      const wallMs = zone.wall(ms);
      const stepMs = this.#stepMs(wallMs);
      if (stepMs === 0) return ms;
      ms += safeStep(ms, stepMs, wallMs, zone);
    }
    return undefined;
  }

  /** 0 when the time fits; else for how long it surely does not. */
  #stepMs(wallMs: WallMs): number {
    const wall = new Date(wallMs);
    const { minute, hour, month } = this.#fields;
    if (!month.values.has(wall.getUTCMonth() + 1) || !this.#hasDay(wall)) return dayMs - (wallMs % dayMs);
    if (!hour.values.has(wall.getUTCHours())) return hourMs - (wallMs % hourMs);
    return minute.values.has(wall.getUTCMinutes()) ? 0 : minuteMs;
  }

  /** If both days are restricted, one of them is enough. */
  #hasDay(wall: Date): boolean {
    const { day, weekday } = this.#fields;
    const [isDay, isWeekday] = [day.values.has(wall.getUTCDate()), weekday.values.has(wall.getUTCDay())];
    return day.isAny || weekday.isAny ? isDay && isWeekday : isDay || isWeekday;
  }
}

/** Where clocks are put forward or back within the step, it is made of smaller ones. */
function safeStep(ms: number, stepMs: number, wallMs: WallMs, zone: TimeZone): number {
  for (const step of [stepMs, Math.min(stepMs, hourMs - (wallMs % hourMs))]) {
    if (zone.wall(ms + step) - wallMs === step) return step;
  }
  return minuteMs;
}

function parseField(text: string, bound: Bounds): Field {
  const values = new Set<number>();
  let isAny = false;
  for (const range of text.split(',').filter((part) => part !== '')) {
    const { first, last, step, isStar } = parseRange(range, bound);
    for (let value = first; value <= last; value += step) values.add(value);
    isAny ||= isStar && step === 1;
  }
  return { values, isAny };
}

/** `*`, `5`, `1-5`, each with `/step`; `5/2` is from 5 on. */
function parseRange(text: string, bound: Bounds) {
  const match = /^([^-/]+)(?:-([^-/]+))?(?:\/([^-/]+))?$/.exec(text);
  if (match === null)
    throw new ScheduleError(`${bound.name} ${text}: expected a value, a range or one of them and a step`);
  const [, from = '', to, by] = match;
  const isStar = from === '*' || from === '?';
  const first = isStar ? bound.min : parseValue(from, bound);
  const last = isStar || (to === undefined && by !== undefined) ? bound.max : parseValue(to ?? from, bound);
  const step = by === undefined ? 1 : parseNumber(by, bound);
  if (first < bound.min || last > bound.max || first > last || step === 0) {
    throw new ScheduleError(
      `${bound.name} ${text}: expected values from ${bound.min} to ${bound.max} in order, and a step above 0`,
    );
  }
  return { first, last, step, isStar };
}

function parseValue(text: string, bound: Bounds): number {
  const named = bound.names?.indexOf(text.toLowerCase()) ?? -1;
  return named >= 0 ? named + bound.min : parseNumber(text, bound);
}

function parseNumber(text: string, { name }: Bounds): number {
  if (!/^\d{1,9}$/.test(text)) throw new ScheduleError(`${name} ${text}: expected a number`);
  return Number(text);
}

/** As Go writes durations: `1h30m`, `1.5s`. In milliseconds. */
function parseDuration(text: string): number {
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(h|ms|m|us|µs|ns|s)/g)];
  if (parts.length === 0 || parts.map(([part]) => part).join('') !== text) {
    throw new ScheduleError(`failed to parse duration @every ${text}: expected one such as 1h30m`);
  }
  return parts.reduce((sum, [, value, unit = '']) => sum + Number(value) * (unitMs[unit] ?? 0), 0);
}
