import { type FieldError, fieldError } from '@castellan/machinery';
import { text } from '../json.js';

const months = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');
const days = 'sun mon tue wed thu fri sat'.split(' ');

interface Bounds {
  readonly min: number;
  readonly max: number;
  /** Names of the values from `min` on. */
  readonly names?: readonly string[];
}

const fields: readonly Bounds[] = [
  { min: 0, max: 59 },
  { min: 0, max: 23 },
  { min: 1, max: 31 },
  { min: 1, max: 12, names: months },
  { min: 0, max: 6, names: days },
];

const descriptors = ['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly'];

/** What is wrong with a CronJob's schedule, in the words of the parser that Kubernetes uses. */
export function scheduleErrors(schedule: string, hasTimeZone: boolean): readonly FieldError[] {
  const path = 'spec.schedule';
  if (schedule === '') return [fieldError.required(path)];
  if (schedule.includes('TZ')) {
    const problem = hasTimeZone
      ? 'cannot use both timeZone field and TZ or CRON_TZ in schedule'
      : 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead';
    return [fieldError.invalid(path, schedule, problem)];
  }
  const problem = problemOf(schedule);
  return problem === undefined ? [] : [fieldError.invalid(path, schedule, problem)];
}

function problemOf(schedule: string): string | undefined {
  if (schedule.startsWith('@')) {
    if (descriptors.includes(schedule) || /^@every (\d+(\.\d+)?(ns|us|µs|ms|s|m|h))+$/.test(schedule)) return undefined;
    return `unrecognized descriptor: ${schedule}`;
  }
  const parts = schedule.trim().split(/\s+/);
  if (parts.length !== fields.length) {
    return `expected exactly ${fields.length} fields, found ${parts.length}: [${parts.join(' ')}]`;
  }
  for (const [index, bounds] of fields.entries()) {
    const problem = fieldProblem(parts[index] ?? '', bounds);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function fieldProblem(part: string, bounds: Bounds): string | undefined {
  for (const range of part.split(',').filter((each) => each !== '')) {
    const problem = rangeProblem(range, bounds);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** `*`, `5`, `1-5`, each with `/step`. */
function rangeProblem(range: string, { min, max, names }: Bounds): string | undefined {
  const [limits = '', step, ...moreSteps] = range.split('/');
  const [from = '', to, ...more] = limits.split('-');
  if (more.length > 0) return `too many hyphens: ${range}`;
  if (moreSteps.length > 0) return `too many slashes: ${range}`;
  const isAny = from === '*' || from === '?';
  const start = isAny ? min : parseValue(from, min, names);
  if (typeof start === 'string') return start;
  const end = isAny ? max : to === undefined ? (step === undefined ? start : max) : parseValue(to, min, names);
  if (typeof end === 'string') return end;
  const stride = step === undefined ? 1 : parseValue(step, min, undefined);
  if (typeof stride === 'string') return stride;
  if (start < min) return `beginning of range (${start}) below minimum (${min}): ${range}`;
  if (end > max) return `end of range (${end}) above maximum (${max}): ${range}`;
  if (start > end) return `beginning of range (${start}) beyond end of range (${end}): ${range}`;
  return stride === 0 ? `step of range should be a positive number: ${range}` : undefined;
}

/** The number, or what is wrong with it. */
function parseValue(part: string, min: number, names: readonly string[] | undefined): number | string {
  const named = names?.indexOf(part.toLowerCase()) ?? -1;
  if (named >= 0) return named + min;
  if (/^\d+$/.test(part)) return Number(part);
  return `failed to parse int from ${part}: strconv.Atoi: parsing ${JSON.stringify(part)}: invalid syntax`;
}

export function timeZoneErrors(timeZone: unknown): readonly FieldError[] {
  const path = 'spec.timeZone';
  if (timeZone === undefined) return [];
  const zone = text(timeZone) ?? '';
  if (zone === '') return [fieldError.invalid(path, zone, 'timeZone must be nil or non-empty string')];
  if (zone.toLowerCase() === 'local') return [fieldError.invalid(path, zone, 'timeZone must be an explicit time zone')];
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
    return [];
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return [fieldError.invalid(path, zone, `unknown time zone ${zone}`)];
  }
}
