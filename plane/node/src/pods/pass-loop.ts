import type { Cancel, World } from '@castellan/world';

export interface PassLoopOptions {
  readonly world: World;
  pass(): Promise<void>;
  /** A pass threw. Another one comes after a second. */
  failed(error: unknown): void;
}

const retryMs = 1_000;

/** Runs passes over one thing, never two at a time: when somebody wants one, and at the times that a pass asks for. */
export class PassLoop {
  readonly #options: PassLoopOptions;
  #isClosed = false;
  #isWanted = false;
  #isRunning = false;
  #pass: Promise<void> | undefined;
  #timer: Cancel | undefined;
  #nextMs: number | undefined;

  constructor(options: PassLoopOptions) {
    this.#options = options;
  }

  /** A pass is to begin from now on; one that runs already does not count, for it may have looked before. */
  wake(): void {
    if (this.#isClosed) return;
    this.#isWanted = true;
    if (!this.#isRunning) this.#pass = this.#run();
  }

  /** Wakes at `atMs`. The earliest of what is asked for within one pass counts. */
  wakeAt(atMs: number | undefined): void {
    if (atMs === undefined || this.#isClosed) return;
    const { clock } = this.#options.world;
    this.#timer?.();
    this.#nextMs = Math.min(this.#nextMs ?? atMs, atMs);
    this.#timer = clock.after(Math.max(1, this.#nextMs - clock.now()), () => this.wake());
  }

  /** No pass begins any more. One that runs goes on; a pass may close its own loop. */
  close(): void {
    this.#isClosed = true;
    this.#timer?.();
  }

  /** Settles when no pass runs. */
  async settled(): Promise<void> {
    await this.#pass;
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#isWanted && !this.#isClosed) {
      this.#isWanted = false;
      this.#timer?.();
      this.#nextMs = undefined;
      try {
        await this.#options.pass();
      } catch (error) {
        // What a node that is switched off has not come to is no trouble of its pods.
        if (this.#isClosed) break;
        this.#options.failed(error);
        this.wakeAt(this.#options.world.clock.now() + retryMs);
      }
    }
    // With no pause since the last look at #isWanted: a wish that comes from now on starts a new run.
    this.#isRunning = false;
  }
}
