import { type FSWatcher, watch } from 'node:fs';
import { join } from 'node:path';
import type { Cancel, World } from '@castellan/world';

/** A supervisor that is killed writes no exit code, and no file changes: only looking tells. */
const pollMs = 2_000;

export interface ExitListener {
  /** A cheap look at whether it has ended. */
  isOver(): boolean;
  exited(): void;
}

/**
 * Tells when a start of a container has ended: at once when its supervisor writes the exit code, whoever started it, and
 * within two seconds when the supervisor itself was killed.
 */
export class ExitWatch {
  readonly #world: World;
  readonly #watched = new Map<string, { readonly watcher: FSWatcher | undefined; readonly listener: ExitListener }>();
  #cancelPoll: Cancel | undefined;

  constructor(world: World) {
    this.#world = world;
  }

  watch(directory: string, listener: ExitListener): void {
    if (this.#watched.has(directory)) return;
    this.#watched.set(directory, { watcher: watchState(directory, listener), listener });
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
    for (const { listener } of this.#watched.values()) if (seemsOver(listener)) listener.exited();
    this.#cancelPoll = this.#watched.size === 0 ? undefined : this.#world.clock.after(pollMs, () => this.#poll());
  }
}

/** What cannot be told here fails again where it is asked for, and is handled there. */
function seemsOver(listener: ExitListener): boolean {
  try {
    return listener.isOver();
  } catch {
    return true;
  }
}

/** Without a watch (the machine's inotify instances are used up) the poll alone notices exits. */
function watchState(directory: string, listener: ExitListener): FSWatcher | undefined {
  try {
    const watcher = watch(join(directory, 'state'), { persistent: false }, (_event, name) => {
      if (name === 'exit') listener.exited();
    });
    watcher.on('error', () => watcher.close());
    return watcher;
  } catch {
    return undefined;
  }
}
