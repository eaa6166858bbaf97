import { closeSync, fstatSync, mkdirSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Log, LogFields } from '@castellan/runtime';
import type { World } from '@castellan/world';

const largestBytes = 16 * 1024 * 1024;

export interface PlaneLogOptions {
  readonly path: string;
  readonly world: World;
  /** Warnings and errors, for people who watch. */
  onTrouble?(message: string, fields: LogFields): void;
}

/**
 * One line per message: time, level, message, fields. Written at once, so that the last lines are there after a crash;
 * a file that grows over 16 MiB becomes `castellan.log.1` and replaces the one before.
 */
export function openPlaneLog({ path, world, onTrouble }: PlaneLogOptions): Log {
  mkdirSync(dirname(path), { recursive: true });
  let file = openSync(path, 'a');
  let bytes = fstatSync(file).size;
  let isWritable = true;
  const write = (level: string, message: string, fields: LogFields = {}): void => {
    const line = `${new Date(world.clock.now()).toISOString()} ${level} ${message}${formatFields(fields)}\n`;
    try {
      if (bytes > largestBytes) {
        closeSync(file);
        renameSync(path, `${path}.1`);
        file = openSync(path, 'a');
        bytes = 0;
      }
      bytes += writeSync(file, line);
      isWritable = true;
    } catch (error) {
      // A full disk must not end the plane: it still serves reads, and says itself what it cannot write.
      if (isWritable)
        onTrouble?.(`the log ${path} cannot be written: ${String(error)}; next: free space on its disk`, {});
      isWritable = false;
    }
    if (level === 'WARN' || level === 'ERROR') onTrouble?.(message, fields);
  };
  return {
    debug: () => undefined,
    info: (message, fields) => write('INFO', message, fields),
    warn: (message, fields) => write('WARN', message, fields),
    error: (message, fields) => write('ERROR', message, fields),
  };
}

/** The end of a log file for an error message; nothing when there is no file. */
export function lastLogLines(path: string, count: number): readonly string[] {
  try {
    return readFileSync(path, 'utf8').trimEnd().split('\n').slice(-count);
  } catch {
    return []; // It failed before it could log.
  }
}

function formatFields(fields: LogFields): string {
  return Object.entries(fields)
    .map(([name, value]) => ` ${name}=${formatValue(value)}`)
    .join('');
}

function formatValue(value: unknown): string {
  if (value instanceof Error) return JSON.stringify(value.stack ?? value.message);
  if (typeof value === 'string') return /^[\w./:@-]+$/.test(value) ? value : JSON.stringify(value);
  return JSON.stringify(value) ?? String(value);
}
