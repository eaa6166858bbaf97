/** Whole numbers from the first to the last, both included. */
export type NumberRange = readonly [first: number, last: number];

/** The same numbers in order, as few ranges as can be. */
export function mergeRanges(ranges: readonly NumberRange[]): readonly NumberRange[] {
  const merged: NumberRange[] = [];
  for (const [first, last] of [...ranges].sort((a, b) => a[0] - b[0])) {
    const before = merged.at(-1);
    if (before === undefined || first > before[1] + 1) merged.push([first, last]);
    else merged[merged.length - 1] = [before[0], Math.max(before[1], last)];
  }
  return merged;
}

/** `from` without the numbers of `others`. */
export function withoutRanges(from: NumberRange, others: readonly NumberRange[]): readonly NumberRange[] {
  const left: NumberRange[] = [];
  let [next] = from;
  for (const [first, last] of mergeRanges(others)) {
    if (first > from[1]) break;
    if (first > next) left.push([next, first - 1]);
    next = Math.max(next, last + 1);
  }
  return next > from[1] ? left : [...left, [next, from[1]]];
}
