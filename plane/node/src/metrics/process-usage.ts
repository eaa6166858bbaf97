import { readFileSync } from 'node:fs';
import { childrenOf } from '../sandbox/process-identity.js';

/** What something has used of the machine: processors since it began, in seconds, and memory now. */
export interface Usage {
  readonly cpuSeconds: number;
  readonly memoryBytes: number;
}

/** Of /proc/PID/stat, on every Linux. */
const ticksPerSecond = 100;

/** What these processes use, with what children of theirs used that have ended. Those that are gone by now are left out. */
export function usageOfProcesses(pids: readonly number[]): Usage {
  let [cpuSeconds, memoryBytes] = [0, 0];
  for (const pid of pids) {
    const stat = readText(`/proc/${pid}/stat`);
    const status = readText(`/proc/${pid}/status`);
    if (stat === undefined || status === undefined) continue;
    cpuSeconds += ticksOf(stat) / ticksPerSecond;
    memoryBytes += residentBytes(status);
  }
  return { cpuSeconds, memoryBytes };
}

/** Fields 14 to 17 of proc(5): of the process and of its children, in user mode and in the kernel. */
export function ticksOf(stat: string): number {
  // The second field is the program's name in parentheses and may hold anything.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
}

export function residentBytes(status: string): number {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) * 1024;
}

/** A process and all that it and they have started. */
export function familyOf(pid: number): readonly number[] {
  return [pid, ...childrenOf(pid).flatMap(familyOf)];
}

/** `undefined` when there is no such file, or what it told of is gone. */
export function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
