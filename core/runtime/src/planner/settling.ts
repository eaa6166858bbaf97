/** A state from which it is not certain that things come to rest. */
export interface Unsettling {
  readonly id: number;
  /** Why the state, an end, is a wrong one; absent when it goes in a circle instead. */
  readonly why: { readonly rule: string; readonly message: string } | undefined;
  /** The states of the circle, in order; empty for a wrong end. */
  readonly circle: readonly number[];
}

/**
 * Finds the first state that does not settle. A state settles when every one of its successors does, so an end settles
 * if it is a right one, and no state of a circle does. Computed from the ends backwards, each edge looked at once.
 */
export function findUnsettling(
  successors: readonly (readonly number[])[],
  wrongEnd: (id: number) => Unsettling['why'],
): Unsettling | undefined {
  const open = successors.map((next) => next.length);
  const predecessors: number[][] = successors.map(() => []);
  const settled: number[] = [];
  let wrong: Unsettling | undefined;
  for (const [id, next] of successors.entries()) {
    for (const to of next) predecessors[to]?.push(id);
    if (next.length > 0) continue;
    const why = wrongEnd(id);
    if (why === undefined) settled.push(id);
    else wrong ??= { id, why, circle: [] };
  }
  // Grows while it is walked.
  for (const id of settled) {
    for (const from of predecessors[id] ?? []) {
      const left = (open[from] ?? 0) - 1;
      open[from] = left;
      if (left === 0) settled.push(from);
    }
  }
  if (wrong !== undefined || settled.length === successors.length) return wrong;
  return firstCircle(successors, open);
}

/** Every state still open has an open successor; following those comes round. */
function firstCircle(successors: readonly (readonly number[])[], open: readonly number[]): Unsettling | undefined {
  let id = open.findIndex((left) => left > 0);
  const path: number[] = [];
  while (id >= 0 && !path.includes(id)) {
    path.push(id);
    id = successors[id]?.find((to) => (open[to] ?? 0) > 0) ?? -1;
  }
  return id < 0 ? undefined : { id, why: undefined, circle: path.slice(path.indexOf(id)) };
}
