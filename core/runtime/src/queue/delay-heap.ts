export interface Delayed {
  readonly key: string;
  /** On the monotonic clock. */
  readonly dueMs: number;
  /** Keys due at one time come out in the order in which they went in. */
  readonly sequence: number;
}

/** A binary heap of keys by the time at which they are due. */
export class DelayHeap {
  #items: Delayed[] = [];

  get size(): number {
    return this.#items.length;
  }

  peek(): Delayed | undefined {
    return this.#items[0];
  }

  push(item: Delayed): void {
    const items = this.#items;
    let at = items.length;
    items.push(item);
    while (at > 0) {
      const parentAt = (at - 1) >> 1;
      const parent = items[parentAt];
      if (parent === undefined || !isBefore(item, parent)) break;
      items[at] = parent;
      at = parentAt;
    }
    items[at] = item;
  }

  pop(): Delayed | undefined {
    const items = this.#items;
    const first = items[0];
    const last = items.pop();
    if (last === undefined || items.length === 0) return first;
    let at = 0;
    for (;;) {
      const left = items[2 * at + 1];
      const right = items[2 * at + 2];
      const isRightFirst = left !== undefined && right !== undefined && isBefore(right, left);
      const child = isRightFirst ? right : left;
      if (child === undefined || !isBefore(child, last)) break;
      items[at] = child;
      at = 2 * at + (isRightFirst ? 2 : 1);
    }
    items[at] = last;
    return first;
  }

  /** Drops what is not wanted any more, in linear time. */
  retain(isWanted: (item: Delayed) => boolean): void {
    const kept = this.#items.filter(isWanted).sort((a, b) => (isBefore(a, b) ? -1 : 1));
    this.#items = kept;
  }
}

function isBefore(a: Delayed, b: Delayed): boolean {
  return a.dueMs < b.dueMs || (a.dueMs === b.dueMs && a.sequence < b.sequence);
}
