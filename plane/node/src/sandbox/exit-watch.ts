import { type FSWatcher, watch } from 'node:fs';
import { join } from 'node:path';
import type { Cancel, World } from '@castellan/world';

/** A supervisor that is killed writes no exit code, and no file changes: only looking tells. */
const pollMs = 2_000;

/**
 * Calls back when something changes in the state of a container's start: at once when its supervisor writes the exit
 * code, whoever started it, and every two seconds in case the supervisor itself was killed.
 */
export class ExitWatch {
  readonly #world: World;
  readonly #watched = new Map<string, { readonly watcher: FSWatcher | undefined; readonly notify: () => void }>();
  #cancelPoll: Cancel | undefined;

  constructor(world: World) {
    this.#world = world;
  }

  watch(directory: string, notify: () => void): void {
    if (this.#watched.has(directory)) return;
    this.#watched.set(directory, { watcher: watchState(directory, notify), notify });
    this.#cancelPoll ??= this.#world.clock.after(pollMs, () => this.#poll());
  }

  unwatch(directory: string): void {
    this.#watched.get(directory)?.watcher?.close();
    this.#watched.delete(directory);
  }

  close(): void {
    for (const directory of [...this.#watched.keys()]) this.unwatch(directory);
    this.#cancelPoll?.();
    this.#cancelPoll = undefined;
  }

  #poll(): void {
    for (const { notify } of this.#watched.values()) notify();
    this.#cancelPoll = this.#watched.size === 0 ? undefined : this.#world.clock.after(pollMs, () => this.#poll());
  }
}

/** Without a watch (the machine's inotify instances are used up) the poll alone notices exits. */
function watchState(directory: string, notify: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(join(directory, 'state'), { persistent: false }, (_event, name) => {
      if (name === 'exit') notify();
    });
    watcher.on('error', () => watcher.close());
    return watcher;
  } catch {
    return undefined;
  }
}
