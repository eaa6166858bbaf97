import { CelEvaluationError } from './cel-error.js';
import type { CelObject, CelValue } from './value.js';

const nanosPerUnit: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};

export class CelDuration implements CelObject {
  readonly celType = 'google.protobuf.Duration';
  readonly nanos: bigint;

  constructor(nanos: bigint) {
    this.nanos = nanos;
  }

  /** Go's syntax: `1h30m`, `-1.5s`. */
  static parse(text: string): CelDuration {
    const match = /^([+-]?)((?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|ms|s|m|h))+$/.exec(text);
    if (text === '0') return new CelDuration(0n);
    if (match === null) throw new CelEvaluationError(`invalid duration: ${JSON.stringify(text)}`);
    let nanos = 0n;
    for (const [, digits = '', fraction = '', unit = ''] of text.matchAll(/(\d*)(?:\.(\d*))?(ns|us|µs|ms|s|m|h)/g)) {
      const factor = nanosPerUnit[unit] ?? 0n;
      const cut = fraction.slice(0, 15);
      nanos += BigInt(digits || '0') * factor + (BigInt(cut || '0') * factor) / 10n ** BigInt(cut.length);
    }
    return new CelDuration(match[1] === '-' ? -nanos : nanos);
  }

  equals(other: CelValue): boolean {
    return other instanceof CelDuration && other.nanos === this.nanos;
  }

  compare(other: CelValue): number {
    if (!(other instanceof CelDuration)) return Number.NaN;
    return this.nanos < other.nanos ? -1 : this.nanos > other.nanos ? 1 : 0;
  }

  /** In seconds, as `string(duration)` writes it: `5400s`. */
  toString(): string {
    const whole = this.nanos / 1_000_000_000n;
    const rest = this.nanos % 1_000_000_000n;
    if (rest === 0n) return `${whole}s`;
    const sign = this.nanos < 0n && whole === 0n ? '-' : '';
    const fraction = (rest < 0n ? -rest : rest).toString().padStart(9, '0').replace(/0+$/, '');
    return `${sign}${whole}.${fraction}s`;
  }
}

export class CelTimestamp implements CelObject {
  readonly celType = 'google.protobuf.Timestamp';
  /** Since 1970, UTC. */
  readonly nanos: bigint;

  constructor(nanos: bigint) {
    this.nanos = nanos;
  }

  /** RFC 3339, or a day alone. */
  static parse(text: string): CelTimestamp {
    const match = /^(\d{4}-\d\d-\d\d)(?:[Tt](\d\d:\d\d:\d\d)(?:\.(\d+))?([Zz]|[+-]\d\d:\d\d))?$/.exec(text);
    const [, day = '', time = '00:00:00', fraction = '', zone = 'Z'] = match ?? [];
    const ms = match === null ? Number.NaN : Date.parse(`${day}T${time}${zone.toUpperCase()}`);
    if (Number.isNaN(ms)) throw new CelEvaluationError(`invalid timestamp: ${JSON.stringify(text)}`);
    return new CelTimestamp(BigInt(ms) * 1_000_000n + BigInt(fraction.slice(0, 9).padEnd(9, '0')));
  }

  equals(other: CelValue): boolean {
    return other instanceof CelTimestamp && other.nanos === this.nanos;
  }

  compare(other: CelValue): number {
    if (!(other instanceof CelTimestamp)) return Number.NaN;
    return this.nanos < other.nanos ? -1 : this.nanos > other.nanos ? 1 : 0;
  }

  toString(): string {
    const fraction = (this.nanos % 1_000_000_000n).toString().padStart(9, '0').replace(/0+$/, '');
    const whole = this.date().toISOString().slice(0, 19);
    return fraction === '' ? `${whole}Z` : `${whole}.${fraction}Z`;
  }

  /** In the zone that a `getHours('+02:00')` asks for: its UTC fields are the local ones. */
  date(offset = ''): Date {
    const match = /^([+-])?(\d\d):(\d\d)$/.exec(offset);
    if (offset !== '' && offset !== 'UTC' && match === null) {
      throw new CelEvaluationError(`unknown time zone ${offset}`);
    }
    const [, sign = '+', hours = '0', minutes = '0'] = match ?? [];
    const shift = (Number(hours) * 60 + Number(minutes)) * 60_000 * (sign === '-' ? -1 : 1);
    return new Date(Number(this.nanos / 1_000_000n) + shift);
  }
}
