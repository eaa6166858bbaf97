/** Under which keys something is found. Pure: it gives the same keys when the object is taken out again. */
export type KeysOf<T> = (object: T) => readonly string[];

/** Objects by keys that are worked out from them. A key without objects is not held. */
export class StoreIndex<T extends object> {
  readonly #keysOf: KeysOf<T>;
  readonly #byKey = new Map<string, Set<T>>();

  constructor(keysOf: KeysOf<T>) {
    this.#keysOf = keysOf;
  }

  /** How many keys have objects. */
  get size(): number {
    return this.#byKey.size;
  }

  get(key: string): Iterable<T> {
    return this.#byKey.get(key) ?? [];
  }

  add(object: T): void {
    for (const key of this.#keysOf(object)) {
      const present = this.#byKey.get(key);
      if (present === undefined) this.#byKey.set(key, new Set([object]));
      else present.add(object);
    }
  }

  remove(object: T): void {
    for (const key of this.#keysOf(object)) {
      const present = this.#byKey.get(key);
      present?.delete(object);
      if (present?.size === 0) this.#byKey.delete(key);
    }
  }
}
