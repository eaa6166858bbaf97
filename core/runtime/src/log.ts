import type { World } from '@castellan/world';
import type { Log, LogFields } from './controller.js';

const levels = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof levels)[number];

export interface LogOptions {
  /** Takes one line, without its end. */
  readonly write: (line: string) => void;
  /** Nothing below this is written; info by default. */
  readonly level?: LogLevel;
  readonly world: World;
  /** One JSON object per line for machines (the default), or `12:04:05.120 INFO  message key=value` for people. */
  readonly format?: 'json' | 'human';
}

export function createLog({ write, level = 'info', world, format = 'json' }: LogOptions): Log {
  const line = format === 'json' ? jsonLine : humanLine;
  const at = (lineLevel: LogLevel) => (message: string, fields?: LogFields) => {
    if (levels.indexOf(lineLevel) < levels.indexOf(level)) return;
    write(line(new Date(world.clock.now()).toISOString(), lineLevel, message, fields ?? {}));
  };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

/** The same log with `fields` in every line. */
export function logWith(log: Log, fields: LogFields): Log {
  return {
    debug: (message, more) => log.debug(message, { ...fields, ...more }),
    info: (message, more) => log.info(message, { ...fields, ...more }),
    warn: (message, more) => log.warn(message, { ...fields, ...more }),
    error: (message, more) => log.error(message, { ...fields, ...more }),
  };
}

function jsonLine(time: string, level: LogLevel, message: string, fields: LogFields): string {
  const safe = Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, plain(value)]));
  try {
    return JSON.stringify({ time, level, message, ...safe });
  } catch {
    // A field that refers to itself, or a BigInt: what can be said without it is still said.
    return JSON.stringify({ time, level, message, fields: 'not JSON' });
  }
}

function humanLine(time: string, level: LogLevel, message: string, fields: LogFields): string {
  const pairs = Object.entries(fields).map(([name, value]) => ` ${name}=${humanValue(plain(value))}`);
  return `${time.slice(11, 23)} ${level.toUpperCase().padEnd(5)} ${message}${pairs.join('')}`;
}

function humanValue(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value);
  try {
    return JSON.stringify(value);
  } catch {
    return '(not JSON)';
  }
}

function plain(value: unknown): unknown {
  return value instanceof Error ? value.message : value;
}
