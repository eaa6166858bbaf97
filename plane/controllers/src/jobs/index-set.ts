interface Interval {
  readonly first: number;
  readonly last: number;
}

/**
 * Completion indexes of a Job, as intervals in order that neither overlap nor touch: a million of them are one interval.
 * Written as in `status.completedIndexes`: `1,3-5,7`. Source: KEP-2214.
 */
export class IndexSet {
  static readonly empty = new IndexSet([]);
  readonly #intervals: readonly Interval[];

  private constructor(intervals: readonly Interval[]) {
    this.#intervals = intervals;
  }

  /** Reads the text of a status; what is not an interval in it, and indexes from `completions` on, are left out. */
  static parse(text: string | undefined, completions: number): IndexSet {
    const intervals = (text ?? '').split(',').flatMap((part) => {
      const match = /^(\d+)(?:-(\d+))?$/.exec(part);
      if (match === null) return [];
      const first = Number(match[1]);
      const last = Math.min(Number(match[2] ?? match[1]), completions - 1);
      return first <= last ? [{ first, last }] : [];
    });
    return new IndexSet(joined(intervals));
  }

  static of(indexes: Iterable<number>): IndexSet {
    return new IndexSet(joined([...indexes].map((index) => ({ first: index, last: index }))));
  }

  get size(): number {
    return this.#intervals.reduce((sum, { first, last }) => sum + last - first + 1, 0);
  }

  has(index: number): boolean {
    return this.#intervals.some(({ first, last }) => first <= index && index <= last);
  }

  union(other: IndexSet): IndexSet {
    return new IndexSet(joined([...this.#intervals, ...other.#intervals]));
  }

  /** How many indexes are in both. */
  overlap(other: IndexSet): number {
    let count = 0;
    let [own, theirs] = [0, 0];
    for (;;) {
      const [left, right] = [this.#intervals[own], other.#intervals[theirs]];
      if (left === undefined || right === undefined) return count;
      count += Math.max(0, Math.min(left.last, right.last) - Math.max(left.first, right.first) + 1);
      if (left.last <= right.last) own += 1;
      else theirs += 1;
    }
  }

  /** The first indexes below `completions` that are not in the set, `count` of them at most. */
  absent(count: number, completions: number): readonly number[] {
    const found: number[] = [];
    let candidate = 0;
    for (const { first, last } of [...this.#intervals, { first: completions, last: completions }]) {
      for (; candidate < Math.min(first, completions) && found.length < count; candidate++) found.push(candidate);
      candidate = Math.max(candidate, last + 1);
    }
    return found;
  }

  toString(): string {
    return this.#intervals
      .map(({ first, last }) => (last === first ? `${first}` : `${first}${last === first + 1 ? ',' : '-'}${last}`))
      .join(',');
  }
}

function joined(intervals: readonly Interval[]): readonly Interval[] {
  const result: Interval[] = [];
  for (const next of intervals.toSorted((left, right) => left.first - right.first)) {
    const before = result.at(-1);
    if (before === undefined || next.first > before.last + 1) result.push(next);
    else if (next.last > before.last) result[result.length - 1] = { first: before.first, last: next.last };
  }
  return result;
}
