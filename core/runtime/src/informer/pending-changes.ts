import { formatKey, type KubernetesObject, keyOf } from '@castellan/machinery';
import type { Change } from './change.js';

/**
 * Changes that wait for a handler, in the order in which their objects first changed. Those of one object are made one, so
 * that no more than the objects are held however long the handler takes; a recreated object stays two changes.
 */
export class PendingChanges<T extends KubernetesObject> {
  /** A deletion with what came after it, or one change. */
  readonly #byKey = new Map<string, readonly Change<T>[]>();

  get isEmpty(): boolean {
    return this.#byKey.size === 0;
  }

  add(change: Change<T>): void {
    const key = formatKey(keyOf(change.object));
    const waiting = this.#byKey.get(key) ?? [];
    const last = waiting.at(-1);
    const merged = last === undefined ? [change] : [...waiting.slice(0, -1), ...mergedOf(last, change)];
    if (merged.length === 0) this.#byKey.delete(key);
    else this.#byKey.set(key, merged);
  }

  take(): Change<T> | undefined {
    for (const [key, [first, ...rest]] of this.#byKey) {
      if (rest.length === 0) this.#byKey.delete(key);
      else this.#byKey.set(key, rest);
      return first;
    }
    return undefined;
  }

  clear(): void {
    this.#byKey.clear();
  }
}

function mergedOf<T extends KubernetesObject>(first: Change<T>, then: Change<T>): readonly Change<T>[] {
  if (first.kind === 'deleted') return [first, then];
  const { object } = then;
  if (then.kind === 'deleted') return first.kind === 'added' ? [] : [then];
  if (first.kind === 'added') return [{ kind: 'added', object }];
  return [{ kind: 'updated', object, previous: first.previous }];
}
