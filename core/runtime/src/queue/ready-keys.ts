import { Fifo } from './fifo.js';

/** A place in line. One that became void is left where it is and passed over. */
export interface Place {
  readonly readyAtMs: number;
  isVoid: boolean;
}

/** Keys to be given out: highest priority first, first in first out within one, and none waits for ever. */
export class ReadyKeys<P extends Place> {
  readonly #maxWaitMs: number;
  readonly #levels = new Map<number, Fifo<P>>();
  #priorities: number[] = [];
  #tookAged = false;

  /** A place of low priority that waited longer than `maxWaitMs` is given out before others, every second time. */
  constructor(maxWaitMs: number) {
    this.#maxWaitMs = maxWaitMs;
  }

  push(place: P, priority: number): void {
    let level = this.#levels.get(priority);
    if (level === undefined) {
      level = new Fifo();
      this.#levels.set(priority, level);
      this.#priorities = [...this.#levels.keys()].sort((a, b) => b - a);
    }
    level.push(place);
  }

  shift(nowMs: number): P | undefined {
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

  /** The first valid place of a level, once the void ones before it are dropped. */
  #head(priority: number): P | undefined {
    const level = this.#levels.get(priority);
    let head = level?.peek();
    while (head?.isVoid === true) {
      level?.shift();
      head = level?.peek();
    }
    return head;
  }
}
