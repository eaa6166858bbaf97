/** Something that is to happen at `at` (milliseconds); of two at the same time the one that was set first goes first. */
export interface Timer {
  readonly at: number;
  readonly sequence: number;
  readonly callback: () => void;
  isCancelled: boolean;
}

/** Timers by time: a binary heap. Cancelled timers stay until they come to the top. */
export class TimerQueue {
  readonly #heap: Timer[] = [];
  #sequence = 0;
  #cancelled = 0;

  /** How many timers are set and not cancelled. */
  get size(): number {
    return this.#heap.length - this.#cancelled;
  }

  add(at: number, callback: () => void): Timer {
    const timer: Timer = { at, sequence: this.#sequence, callback, isCancelled: false };
    this.#sequence += 1;
    this.#rise(timer);
    return timer;
  }

  cancel(timer: Timer): void {
    if (timer.isCancelled) return;
    timer.isCancelled = true;
    this.#cancelled += 1;
  }

  peek(): Timer | undefined {
    for (;;) {
      const top = this.#heap[0];
      if (top === undefined || !top.isCancelled) return top;
      this.#cancelled -= 1;
      this.#removeTop();
    }
  }

  take(): Timer | undefined {
    const top = this.peek();
    if (top !== undefined) {
      this.#removeTop();
      // A later cancel of what has fired must not be counted.
      top.isCancelled = true;
    }
    return top;
  }

  #rise(timer: Timer): void {
    let index = this.#heap.length;
    while (index > 0) {
      const parentIndex = (index - 1) >> 1;
      const parent = this.#heap[parentIndex];
      if (parent === undefined || !isBefore(timer, parent)) break;
      this.#heap[index] = parent;
      index = parentIndex;
    }
    this.#heap[index] = timer;
  }

  #removeTop(): void {
    const last = this.#heap.pop();
    if (last === undefined || this.#heap.length === 0) return;
    let index = 0;
    for (;;) {
      let childIndex = 2 * index + 1;
      let child = this.#heap[childIndex];
      const right = this.#heap[childIndex + 1];
      if (child !== undefined && right !== undefined && isBefore(right, child)) {
        childIndex += 1;
        child = right;
      }
      if (child === undefined || !isBefore(child, last)) break;
      this.#heap[index] = child;
      index = childIndex;
    }
    this.#heap[index] = last;
  }
}

function isBefore(a: Timer, b: Timer): boolean {
  return a.at < b.at || (a.at === b.at && a.sequence < b.sequence);
}
