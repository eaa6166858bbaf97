import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import type { GroupName, ResourceLimits } from './control-group.js';
import { quotaMicroseconds, quotaPeriodMicroseconds } from './cpu-quota.js';
import { makeDirectory } from './group-directory.js';

const sharesOfProcessor = 1024;

/** One tree for all controllers. Only its leaves, the containers' groups, may have processes. */
export function createV2Group(
  root: string,
  { plane, pod, container }: GroupName,
  { memoryBytes, cpuMillis, shares, podPids }: ResourceLimits,
): readonly string[] {
  const planeDirectory = makeDirectory(join(root, plane));
  const podDirectory = makeDirectory(join(planeDirectory, pod));
  for (const parent of [root, planeDirectory, podDirectory]) delegateControllers(parent);
  const directory = makeDirectory(join(podDirectory, container));
  const set = (place: string, file: string, value: string) => writeFileSync(join(place, file), value);
  set(planeDirectory, 'cpu.weight', String(weight(cpus().length * sharesOfProcessor)));
  set(podDirectory, 'cpu.weight', String(weight(shares.pod)));
  set(directory, 'cpu.weight', String(weight(shares.container)));
  if (hasController(podDirectory, 'pids')) set(podDirectory, 'pids.max', String(podPids));
  if (cpuMillis !== undefined) set(directory, 'cpu.max', `${quotaMicroseconds(cpuMillis)} ${quotaPeriodMicroseconds}`);
  if (memoryBytes !== undefined) {
    set(directory, 'memory.max', String(memoryBytes));
    // A container that is out of memory ends as one: half of it is of no use.
    set(directory, 'memory.oom.group', '1');
  }
  return [directory];
}

/** Lets groups below this one use the controllers that it has. Throws where it has processes of its own. */
export function delegateControllers(parent: string): void {
  const wanted = ['memory', 'cpu', 'pids'].filter((controller) => hasController(parent, controller));
  writeFileSync(join(parent, 'cgroup.subtree_control'), wanted.map((controller) => `+${controller}`).join(' '));
}

function hasController(directory: string, controller: string): boolean {
  return readFileSync(join(directory, 'cgroup.controllers'), 'utf8').trim().split(' ').includes(controller);
}

/** Shares of version 1 (2 to 262,144) as weights of version 2 (1 to 10,000), by the formula of container runtimes. */
function weight(shares: number): number {
  return Math.round(1 + ((Math.max(2, shares) - 2) * 9_999) / 262_142);
}
