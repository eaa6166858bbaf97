/**
 * Everything nondeterministic comes in through a World: the time, timers and random numbers. The real one is
 * `realWorld()`; `simulatedWorld(seed)` has a virtual clock and one seeded stream of random numbers, so that a run
 * can be repeated from its seed.
 */
export interface World {
  readonly clock: Clock;
  readonly random: Random;
}

export interface Clock {
  /** Milliseconds since the Unix epoch. May jump. */
  now(): number;
  /** Milliseconds from an arbitrary start; never goes back. Use for durations and deadlines. */
  monotonicNow(): number;
  /** Runs `callback` once after `delayMs`; real timers do not keep the process alive. The result cancels it. */
  after(delayMs: number, callback: () => void): Cancel;
  /** Resolves after `delayMs`; rejects with the signal's reason when aborted. A real sleep keeps the process alive. */
  sleep(delayMs: number, signal?: AbortSignal): Promise<void>;
}

export type Cancel = () => void;

export interface Random {
  /** Uniform in [0, 1). */
  next(): number;
  /** `length` characters out of `alphabet`; Kubernetes' name alphabet by default. */
  string(length: number, alphabet?: string): string;
  uuid(): string;
}
