import { readText, type Usage } from './process-usage.js';

const ticksPerSecond = 100;

/** What the whole machine uses, whoever uses it. */
export function hostUsage(): Usage {
  return {
    cpuSeconds: busyTicks(readText('/proc/stat') ?? '') / ticksPerSecond,
    memoryBytes: usedBytes(readText('/proc/meminfo') ?? ''),
  };
}

/** All but idle and waiting for disks, which are the fourth and the fifth; what guests use is in user time already. */
export function busyTicks(stat: string): number {
  const ticks = (/^cpu +(.*)$/m.exec(stat)?.[1] ?? '').split(' ').map(Number).slice(0, 8);
  return ticks.reduce((sum, each, index) => (index === 3 || index === 4 ? sum : sum + each), 0);
}

export function usedBytes(meminfo: string): number {
  const of = (name: string) => Number(new RegExp(`^${name}: +(\\d+) kB`, 'm').exec(meminfo)?.[1] ?? 0) * 1024;
  return of('MemTotal') - of('MemAvailable');
}
