import { etcdAdmin } from '../src/index.js';

/** Writes numbered keys one after another, to whichever member takes them, and remembers which were acknowledged. */
export class CountingWriter {
  readonly #endpoints: () => readonly string[];
  readonly #admin = etcdAdmin({ writeDeadlineMs: 1000 });
  readonly #acknowledged: string[] = [];
  readonly #running: Promise<void>;
  #longestGapMs = 0;
  #isStopping = false;

  constructor(endpoints: () => readonly string[]) {
    this.#endpoints = endpoints;
    this.#running = this.#run();
  }

  async stop(): Promise<{ readonly acknowledged: readonly string[]; readonly longestGapMs: number }> {
    this.#isStopping = true;
    await this.#running;
    return { acknowledged: this.#acknowledged, longestGapMs: this.#longestGapMs };
  }

  async #run(): Promise<void> {
    let lastMs = performance.now();
    for (let number = 0; !this.#isStopping; number++) {
      const endpoints = this.#endpoints();
      const endpoint = endpoints[number % Math.max(1, endpoints.length)] ?? 'http://127.0.0.1:1';
      const key = `write-${number}`;
      const isTaken = await this.#admin.put(endpoint, key, key).then(
        () => true,
        () => false,
      );
      const now = performance.now();
      if (isTaken) {
        this.#acknowledged.push(key);
        this.#longestGapMs = Math.max(this.#longestGapMs, now - lastMs);
        lastMs = now;
      } else {
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }
  }
}
