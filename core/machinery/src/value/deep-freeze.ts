import type { DeepReadonly } from '../kinds/built-in.js';

/** Freezes a JSON value and all within it, in place, and gives it back. What is frozen already is not entered. */
export function deepFreeze<T>(value: T): DeepReadonly<T>;
export function deepFreeze(value: unknown): unknown {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const child of Object.values(value)) deepFreeze(child);
  }
  return value;
}
