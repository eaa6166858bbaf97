/** A number of pods, or a percentage of `all`. */
export function podsOf(amount: number | string, all: number, round: (pods: number) => number): number {
  if (typeof amount === 'number') return amount;
  return round((Number.parseInt(amount, 10) * all) / 100);
}
