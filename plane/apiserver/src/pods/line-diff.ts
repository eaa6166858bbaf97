/** How many lines around a change are shown. */
const context = 3;
/** Beyond so many pairs of lines no common part is looked for: a refusal must not cost more than the write. */
const maxPairs = 1_000_000;

interface Change {
  readonly before: readonly [from: number, to: number];
  readonly after: readonly [from: number, to: number];
}

/** What differs between two texts, as `diff -u` shows it without the names of files; each line ends in a line break. */
export function lineDiff(before: readonly string[], after: readonly string[]): string {
  const changes = changesOf(before, after, 0, 0);
  return hunksOf(changes)
    .map((hunk) => hunkText(hunk, before, after))
    .join('');
}

/** The parts that differ, in order, between the longest runs of lines that both have. */
function changesOf(
  before: readonly string[],
  after: readonly string[],
  beforeFrom: number,
  afterFrom: number,
): readonly Change[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let end = 0;
  const shortest = Math.min(before.length, after.length) - start;
  while (end < shortest && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  const left = before.slice(start, before.length - end);
  const right = after.slice(start, after.length - end);
  if (left.length === 0 && right.length === 0) return [];
  const [leftFrom, rightFrom] = [beforeFrom + start, afterFrom + start];
  const run = left.length * right.length > maxPairs ? noRun : longestRun(left, right);
  if (run.length === 0) {
    return [{ before: [leftFrom, leftFrom + left.length], after: [rightFrom, rightFrom + right.length] }];
  }
  const [leftEnd, rightEnd] = [run.left + run.length, run.right + run.length];
  return [
    ...changesOf(left.slice(0, run.left), right.slice(0, run.right), leftFrom, rightFrom),
    ...changesOf(left.slice(leftEnd), right.slice(rightEnd), leftFrom + leftEnd, rightFrom + rightEnd),
  ];
}

interface Run {
  readonly left: number;
  readonly right: number;
  readonly length: number;
}

const noRun: Run = { left: 0, right: 0, length: 0 };

/** The longest run of equal lines; of several the first. */
function longestRun(left: readonly string[], right: readonly string[]): Run {
  let best = noRun;
  let lengths = new Map<number, number>();
  const places = new Map<string, number[]>();
  for (const [index, line] of right.entries()) places.set(line, [...(places.get(line) ?? []), index]);
  for (const [index, line] of left.entries()) {
    const next = new Map<number, number>();
    for (const place of places.get(line) ?? []) {
      const length = (lengths.get(place - 1) ?? 0) + 1;
      next.set(place, length);
      if (length > best.length) best = { left: index - length + 1, right: place - length + 1, length };
    }
    lengths = next;
  }
  return best;
}

/** Changes whose surroundings meet are shown together. */
function hunksOf(changes: readonly Change[]): readonly (readonly Change[])[] {
  const hunks: Change[][] = [];
  for (const change of changes) {
    const last = hunks.at(-1);
    const lastEnd = last?.at(-1)?.before[1];
    if (last !== undefined && lastEnd !== undefined && change.before[0] - lastEnd <= 2 * context) last.push(change);
    else hunks.push([change]);
  }
  return hunks;
}

function hunkText(changes: readonly Change[], before: readonly string[], after: readonly string[]): string {
  const [first, last] = [changes[0], changes.at(-1)];
  if (first === undefined || last === undefined) return '';
  const lead = Math.min(context, first.before[0]);
  const from = first.before[0] - lead;
  const to = Math.min(before.length, last.before[1] + context);
  const afterFrom = first.after[0] - lead;
  const afterTo = Math.min(after.length, last.after[1] + context);
  const lines: string[] = [];
  let position = from;
  for (const change of changes) {
    lines.push(...before.slice(position, change.before[0]).map((line) => ` ${line}`));
    lines.push(...before.slice(...change.before).map((line) => `-${line}`));
    lines.push(...after.slice(...change.after).map((line) => `+${line}`));
    position = change.before[1];
  }
  lines.push(...before.slice(position, to).map((line) => ` ${line}`));
  const head = `@@ -${rangeText(from, to)} +${rangeText(afterFrom, afterTo)} @@`;
  return [head, ...lines].map((line) => `${line}\n`).join('');
}

function rangeText(from: number, to: number): string {
  const length = to - from;
  return length === 1 ? `${from + 1}` : `${length === 0 ? from : from + 1},${length}`;
}
