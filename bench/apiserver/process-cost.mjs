// What processes cost, from /proc: figures hardly depend on what else the machine does.
import { readFileSync } from 'node:fs';

/** proc(5): clock ticks are 10 ms on every Linux that Node runs on. */
const tickMs = 10;

/** Milliseconds of CPU that the processes have used, user and system. */
export function cpuMs(pids) {
  return sum(pids, (pid) => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    return (Number(fields[11]) + Number(fields[12])) * tickMs;
  });
}

/** Resident memory of the processes in MB. */
export function residentMb(pids) {
  return sum(pids, (pid) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024);
}

function sum(pids, of) {
  return pids.reduce((total, pid) => total + of(pid), 0);
}
