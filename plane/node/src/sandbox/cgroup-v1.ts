import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import type { CgroupLayout, GroupName, ResourceLimits } from './control-group.js';
import { quotaMicroseconds, quotaPeriodMicroseconds } from './cpu-quota.js';
import { makeDirectory } from './group-directory.js';

/** What one processor's worth of a group is. */
const sharesOfProcessor = 1024;

/** One tree for each controller: the plane's pods together have as much to say as the machine's processors, as under kubelet. */
export function createV1Group(
  layout: CgroupLayout & { readonly kind: 'v1' },
  { plane, pod, container }: GroupName,
  { memoryBytes, cpuMillis, shares, podPids }: ResourceLimits,
): readonly string[] {
  const joined: string[] = [];
  const cpu = makeDirectory(join(layout.cpu, plane, pod, container));
  joined.push(cpu);
  const weights = [
    [join(layout.cpu, plane), cpus().length * sharesOfProcessor],
    [join(layout.cpu, plane, pod), shares.pod],
    [cpu, shares.container],
  ] as const;
  for (const [directory, weight] of weights) writeFileSync(join(directory, 'cpu.shares'), String(weight));
  if (cpuMillis !== undefined) {
    writeFileSync(join(cpu, 'cpu.cfs_period_us'), String(quotaPeriodMicroseconds));
    writeFileSync(join(cpu, 'cpu.cfs_quota_us'), String(quotaMicroseconds(cpuMillis)));
  }
  if (memoryBytes !== undefined) {
    const memory = makeDirectory(join(layout.memory, plane, pod, container));
    writeFileSync(join(memory, 'memory.limit_in_bytes'), String(memoryBytes));
    joined.push(memory);
  }
  if (layout.pids !== undefined) {
    const pids = makeDirectory(join(layout.pids, plane, pod));
    writeFileSync(join(pids, 'pids.max'), String(podPids));
    joined.push(pids);
  }
  return joined;
}
