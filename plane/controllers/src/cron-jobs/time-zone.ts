/** A time as clocks on the wall show it, in milliseconds as if it were UTC. */
export type WallMs = number;

/** What clocks show somewhere, from the time zone data of the runtime. */
export class TimeZone {
  readonly #format: Intl.DateTimeFormat | undefined;

  /** @throws RangeError when there is no such zone. */
  constructor(name: string) {
    this.#format =
      name === 'UTC' || name === 'Etc/UTC'
        ? undefined
        : new Intl.DateTimeFormat('en-US', {
            ...{ timeZone: name, hourCycle: 'h23' },
            ...{
              year: 'numeric',
              month: 'numeric',
              day: 'numeric',
              hour: 'numeric',
              minute: 'numeric',
              second: 'numeric',
            },
          });
  }

  wall(ms: number): WallMs {
    if (this.#format === undefined) return ms;
    const parts = new Map(this.#format.formatToParts(ms).map(({ type, value }) => [type, Number(value)]));
    const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = (
      ['year', 'month', 'day', 'hour', 'minute', 'second'] as const
    ).map((type) => parts.get(type));
    return Date.UTC(year, month - 1, day, hour, minute, second) + (((ms % 1_000) + 1_000) % 1_000);
  }

  /** `2026-01-01T12:00:00+01:00`, or with a Z where that is the time. */
  rfc3339(ms: number): string {
    const text = new Date(this.wall(ms)).toISOString().slice(0, 19);
    const offset = this.#offset(ms);
    return offset === '+0000' ? `${text}Z` : `${text}${offset.slice(0, 3)}:${offset.slice(3)}`;
  }

  /** `Thu, 01 Jan 2026 12:00:00 +0100`: RFC 1123 with a numeric zone. */
  rfc1123(ms: number): string {
    return new Date(this.wall(ms)).toUTCString().replace('GMT', this.#offset(ms));
  }

  #offset(ms: number): string {
    const minutes = Math.round((this.wall(ms) - ms) / 60_000);
    const digits = (value: number) => String(value).padStart(2, '0');
    const size = Math.abs(minutes);
    return `${minutes < 0 ? '-' : '+'}${digits(Math.floor(size / 60))}${digits(size % 60)}`;
  }
}
