import { join } from 'node:path';
import { familyOf, readText, type Usage, usageOfProcesses } from './process-usage.js';

/** Where to look for what a container uses. */
export interface MeasuredContainer {
  /** Its control groups, by directory; none on a machine without. */
  readonly cgroups: readonly string[];
  /** The machine's number of its first process. */
  readonly pid: number;
}

/**
 * By its control groups as far as they count (of version 2, or those of version 1 that have the files), else by its processes.
 * Memory is the working set: what the kernel could take back without a loss is not in it.
 */
export function containerUsage({ cgroups, pid }: MeasuredContainer): Usage {
  const cpuSeconds = first(cgroups, cpuOf);
  const memoryBytes = first(cgroups, workingSetOf);
  if (cpuSeconds !== undefined && memoryBytes !== undefined) return { cpuSeconds, memoryBytes };
  const own = usageOfProcesses(first(cgroups, membersOf) ?? familyOf(pid));
  return { cpuSeconds: cpuSeconds ?? own.cpuSeconds, memoryBytes: memoryBytes ?? own.memoryBytes };
}

function cpuOf(directory: string): number | undefined {
  const micros = /^usage_usec (\d+)$/m.exec(readText(join(directory, 'cpu.stat')) ?? '')?.[1];
  if (micros !== undefined) return Number(micros) / 1e6;
  const nanos = readText(join(directory, 'cpuacct.usage'));
  return nanos === undefined ? undefined : Number(nanos) / 1e9;
}

function workingSetOf(directory: string): number | undefined {
  const used = readText(join(directory, 'memory.current')) ?? readText(join(directory, 'memory.usage_in_bytes'));
  if (used === undefined) return undefined;
  const stat = readText(join(directory, 'memory.stat')) ?? '';
  const idle = /^total_inactive_file (\d+)$/m.exec(stat)?.[1] ?? /^inactive_file (\d+)$/m.exec(stat)?.[1] ?? '0';
  return Math.max(0, Number(used) - Number(idle));
}

/** The processes of the group; `undefined` when it has none, as that of a whole pod. */
function membersOf(directory: string): readonly number[] | undefined {
  const pids = (readText(join(directory, 'cgroup.procs')) ?? '').split('\n').filter(Boolean).map(Number);
  return pids.length === 0 ? undefined : pids;
}

function first<T>(directories: readonly string[], read: (directory: string) => T | undefined): T | undefined {
  for (const directory of directories) {
    const found = read(directory);
    if (found !== undefined) return found;
  }
  return undefined;
}
