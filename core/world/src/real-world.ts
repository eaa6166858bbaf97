import { randomFrom } from './random.js';
import { sleepWith } from './sleep.js';
import type { Cancel, Clock, World } from './world.js';

/** The machine's clock, timers and cryptographic random numbers. */
export function realWorld(): World {
  return { clock: realClock(), random: { ...randomFrom(cryptographicUint32()), uuid: () => crypto.randomUUID() } };
}

/** Timers hold 31 bits of milliseconds; a longer one would fire at once. */
const longestTimerMs = 2 ** 31 - 1;

function realClock(): Clock {
  return {
    now: () => Date.now(),
    monotonicNow: () => performance.now(),
    after: (delayMs, callback) => startTimer(delayMs, callback, (timer) => timer.unref()),
    // Somebody awaits a sleep, so it does keep the process alive: else a program would end in the middle of a wait.
    sleep: (delayMs, signal) => sleepWith((ms, callback) => startTimer(ms, callback), delayMs, signal),
  };
}

function startTimer(delayMs: number, callback: () => void, adjust?: (timer: NodeJS.Timeout) => void): Cancel {
  let timer: NodeJS.Timeout;
  const start = (remainingMs: number) => {
    const stretchMs = Math.min(remainingMs, longestTimerMs);
    timer = setTimeout(() => {
      if (remainingMs > stretchMs) start(remainingMs - stretchMs);
      else callback();
    }, stretchMs);
    adjust?.(timer);
  };
  start(Math.max(0, delayMs));
  return () => clearTimeout(timer);
}

/** Reads a block at a time, as each call into the system's generator costs about a microsecond. */
function cryptographicUint32(): () => number {
  const block = new Uint32Array(256);
  let used = block.length;
  return () => {
    if (used === block.length) {
      crypto.getRandomValues(block);
      used = 0;
    }
    const value = block[used] ?? 0;
    // What was given out may have become a secret.
    block[used] = 0;
    used += 1;
    return value;
  };
}
