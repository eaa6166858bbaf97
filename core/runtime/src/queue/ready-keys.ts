import { Fifo } from './fifo.js';

/** A key that may be given out. Entries that became void are left in place and passed over. */
export interface ReadyEntry {
  readonly key: string;
  readonly readyAtMs: number;
  isAt(priority: number): boolean;
}

/** Keys to be given out: highest priority first, first in first out within one, and none waits for ever. */
export class ReadyKeys<Entry extends ReadyEntry> {
  readonly #maxWaitMs: number;
  readonly #levels = new Map<number, Fifo<Entry>>();
  #priorities: number[] = [];
  #tookAged = false;

  /** An entry of low priority that waited longer than `maxWaitMs` is given out before others, every second time. */
  constructor(maxWaitMs: number) {
    this.#maxWaitMs = maxWaitMs;
  }

  push(entry: Entry, priority: number): void {
    let level = this.#levels.get(priority);
    if (level === undefined) {
      level = new Fifo();
      this.#levels.set(priority, level);
      this.#priorities = [...this.#levels.keys()].sort((a, b) => b - a);
    }
    level.push(entry);
  }

  shift(nowMs: number): Entry | undefined {
    const aged = this.#tookAged || this.#priorities.length < 2 ? undefined : this.#agedLevel(nowMs);
    this.#tookAged = aged !== undefined;
    if (aged !== undefined) return this.#levels.get(aged)?.shift();
    for (const priority of this.#priorities) {
      if (this.#head(priority) !== undefined) return this.#levels.get(priority)?.shift();
    }
    return undefined;
  }

  #agedLevel(nowMs: number): number | undefined {
    return this.#priorities.findLast((priority, index) => {
      const head = index === 0 ? undefined : this.#head(priority);
      return head !== undefined && nowMs - head.readyAtMs > this.#maxWaitMs;
    });
  }

  /** The first valid entry of a level, once the void ones before it are dropped. */
  #head(priority: number): Entry | undefined {
    const level = this.#levels.get(priority);
    let head = level?.peek();
    while (head !== undefined && !head.isAt(priority)) {
      level?.shift();
      head = level?.peek();
    }
    return head;
  }
}
