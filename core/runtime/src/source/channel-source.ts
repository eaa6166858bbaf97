import { formatKey, type KubernetesObject, keyOf, type ObjectKey } from '@castellan/machinery';

/** Something outside of Kubernetes that asks for reconciles: a probe, a message queue, a webhook of a storage system. */
export interface ChannelSource {
  /** Says in "why did this reconcile?" where it came from. */
  readonly name: string;
  /** As of a WatchSource. */
  readonly priority?: number;
  /** Called once, by the controller that it feeds; keys that were put in before come at once. */
  attach(notify: (key: string) => void): ChannelConsumer;
}

export interface ChannelConsumer {
  /** A worker has this key now: there is room for another. */
  taken(key: string): void;
  /** The controller has stopped and takes no more. */
  detach(): void;
}

export interface Channel extends ChannelSource {
  /** Keys that wait for a worker. */
  readonly length: number;
  /**
   * Asks for a reconcile of a key, or of an object by its key. Waits while the channel is full; rejects with the reason of
   * `signal` when that aborts. Within a reconcile use `offer`: a reconcile that waits for a worker may be the last one.
   */
  send(item: ObjectKey | KubernetesObject, signal: AbortSignal): Promise<void>;
  /** As `send`, but gives `false` instead of waiting. */
  offer(item: ObjectKey | KubernetesObject): boolean;
}

export interface ChannelOptions {
  readonly name: string;
  /** Distinct keys that may wait for a worker; 1000 by default. */
  readonly capacity?: number;
  readonly priority?: number;
}

/**
 * A channel that an observer feeds and one controller empties. A key that waits is held once, however often it is sent, so
 * what it takes is bounded by `capacity`, and an observer that is faster than the workers waits for them.
 */
export function channelSource(options: ChannelOptions): Channel {
  return new KeyChannel(options);
}

class KeyChannel implements Channel {
  readonly name: string;
  readonly priority: number;
  readonly #capacity: number;
  readonly #waiting = new Set<string>();
  /** In order: who came first is the first to be let in. */
  readonly #senders = new Set<() => void>();
  #notify: ((key: string) => void) | undefined;

  constructor({ name, capacity = 1_000, priority = 0 }: ChannelOptions) {
    this.name = name;
    this.priority = priority;
    this.#capacity = capacity;
  }

  get length(): number {
    return this.#waiting.size;
  }

  offer(item: ObjectKey | KubernetesObject): boolean {
    const key = formatKey('metadata' in item ? keyOf(item) : item);
    // A key that waits already is told again: it may have been taken and not yet been said to be.
    if (!this.#waiting.has(key) && this.#waiting.size >= this.#capacity) return false;
    this.#waiting.add(key);
    this.#notify?.(key);
    return true;
  }

  async send(item: ObjectKey | KubernetesObject, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    while (!this.offer(item)) await this.#room(signal);
  }

  attach(notify: (key: string) => void): ChannelConsumer {
    if (this.#notify !== undefined) {
      throw new Error(`the channel ${this.name} feeds a controller already: make one channel for each`);
    }
    this.#notify = notify;
    for (const key of this.#waiting) notify(key);
    return {
      taken: (key) => {
        if (this.#waiting.delete(key)) this.#letIn();
      },
      detach: () => {
        this.#notify = undefined;
      },
    };
  }

  #letIn(): void {
    for (const enter of this.#senders) {
      this.#senders.delete(enter);
      enter();
      return;
    }
  }

  #room(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const enter = (): void => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const leave = (): void => {
        this.#senders.delete(enter);
        reject(signal.reason);
      };
      this.#senders.add(enter);
      signal.addEventListener('abort', leave, { once: true });
    });
  }
}
