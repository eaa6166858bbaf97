/** How many indexes a text names, or what is wrong with it. */
export type Indexes = { readonly total: number } | { readonly problem: string };

/** Reads `0,2-4`: indexes in order, each below the number of completions. */
export function indexesOf(indexes: string, completions: number): Indexes {
  if (indexes === '') return { total: 0 };
  let total = 0;
  let last = -1;
  for (const interval of indexes.split(',')) {
    const limits = interval.split('-');
    if (limits.length > 2)
      return {
        problem: `the fragment ${quoted(interval)} violates the requirement that an index interval can have at most two parts separated by '-'`,
      };
    const [from, to] = [limits[0] ?? '', limits[1] ?? limits[0] ?? ''];
    const [start, end] = [Number(from), Number(to)];
    const odd = [from, to].find((limit) => !/^\d+$/.test(limit));
    if (odd !== undefined) {
      return { problem: `cannot convert string to integer for index: ${quoted(odd)}` };
    }
    const tooLarge = [start, end].find((index) => index >= completions);
    if (tooLarge !== undefined) return { problem: `too large index: ${quoted(String(tooLarge))}` };
    if (last >= start) return { problem: `non-increasing order, previous: ${last}, current: ${start}` };
    if (limits.length === 2 && start >= end) {
      return { problem: `non-increasing order, previous: ${start}, current: ${end}` };
    }
    total += end - start + 1;
    last = end;
  }
  return { total };
}

function quoted(text: string): string {
  return JSON.stringify(text);
}
