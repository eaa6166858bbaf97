/** A limit is so much of each period: of 100 ms, the kernel's own default. */
export const quotaPeriodMicroseconds = 100_000;

const leastMicroseconds = 1_000;

export function quotaMicroseconds(cpuMillis: number): number {
  return Math.max(leastMicroseconds, Math.round((cpuMillis * quotaPeriodMicroseconds) / 1000));
}
