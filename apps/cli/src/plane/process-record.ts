import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';

/**
 * Which process runs a data directory's plane. A process number alone says little, because numbers are used again: with
 * the start time it names one process.
 */
export interface ProcessRecord {
  readonly pid: number;
  /** In clock ticks since the machine started, from /proc/PID/stat. */
  readonly startTime: string;
  /** Absent until the API server is ready. */
  readonly url?: string;
}

export function writeProcessRecord(path: string, record: ProcessRecord): void {
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify(record)}\n`);
  renameSync(draft, path);
}

/** The record of a process that is running, or `undefined`. */
export function readLiveProcessRecord(path: string): ProcessRecord | undefined {
  const record = parseRecord(path);
  return record !== undefined && isAlive(record) ? record : undefined;
}

export function removeProcessRecord(path: string): void {
  rmSync(path, { force: true });
}

export function isAlive(record: ProcessRecord): boolean {
  const stat = readStat(record.pid);
  // A zombie has ended; its parent has not asked how.
  return stat !== undefined && stat.startTime === record.startTime && stat.state !== 'Z';
}

export function startTimeOf(pid: number): string {
  return readStat(pid)?.startTime ?? '';
}

/** Field 2 of /proc/PID/stat is the program's name in parentheses and may hold anything; the others follow the last `)`. */
function readStat(pid: number): { readonly state: string; readonly startTime: string } | undefined {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return undefined; // There is no such process.
  }
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state, startTime] = [fields[0], fields[19]];
  return state === undefined || startTime === undefined ? undefined : { state, startTime };
}

function parseRecord(path: string): ProcessRecord | undefined {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined; // Absent, or written by something else: no process to be found by it.
  }
  if (typeof value !== 'object' || value === null || !('pid' in value) || !('startTime' in value)) return undefined;
  const { pid, startTime } = value;
  if (typeof pid !== 'number' || typeof startTime !== 'string') return undefined;
  return { pid, startTime, ...('url' in value && typeof value.url === 'string' ? { url: value.url } : {}) };
}
