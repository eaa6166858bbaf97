/** The bytes of one reply: written by the server, read once by the client. */
export class ReplyBody implements AsyncIterable<Uint8Array> {
  readonly #chunks: Uint8Array[] = [];
  #end: { readonly error?: unknown } | undefined;
  #wake: () => void = () => {};

  get isEnded(): boolean {
    return this.#end !== undefined;
  }

  push(chunk: Uint8Array | string): void {
    if (this.isEnded) return;
    this.#chunks.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
    this.#wake();
  }

  end(): void {
    this.#end ??= {};
    this.#wake();
  }

  /** The reader gets what is there already only when `error` is not given. */
  fail(error: unknown): void {
    if (this.isEnded) return;
    this.#chunks.length = 0;
    this.#end = { error };
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    for (;;) {
      const chunk = this.#chunks.shift();
      if (chunk !== undefined) yield chunk;
      else if (this.#end !== undefined) break;
      else await this.#more();
    }
    if ('error' in this.#end) throw this.#end.error;
  }

  #more(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}
