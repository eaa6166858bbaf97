/** A body in many small parts, packed into pieces that are worth a write each. A part may be cut between two pieces. */
export class PackedBody {
  readonly #parts: Iterator<Uint8Array>;
  #part: Uint8Array | undefined;
  /** Of `#part`, what earlier pieces have. */
  #taken = 0;

  constructor(parts: Iterable<Uint8Array>) {
    this.#parts = parts[Symbol.iterator]();
    this.#next();
  }

  get isAtEnd(): boolean {
    return this.#part === undefined;
  }

  /** Fills `piece` from its begin with what comes next. Returns the number of bytes; less than fit only at the end. */
  read(piece: Uint8Array): number {
    let filled = 0;
    while (this.#part !== undefined) {
      const room = piece.length - filled;
      if (this.#part.length - this.#taken > room) {
        piece.set(this.#part.subarray(this.#taken, this.#taken + room), filled);
        this.#taken += room;
        return piece.length;
      }
      piece.set(this.#taken === 0 ? this.#part : this.#part.subarray(this.#taken), filled);
      filled += this.#part.length - this.#taken;
      this.#next();
    }
    return filled;
  }

  #next(): void {
    const { done, value } = this.#parts.next();
    this.#part = done === true ? undefined : value;
    this.#taken = 0;
  }
}
