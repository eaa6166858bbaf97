import type { Pod } from '@castellan/machinery';
import { hasStorageLimits, storageFailure, storageLookMs } from './local-storage.js';
import type { PodDirectory } from './pod-directory.js';
import { activeDeadlineMs, deadlineExceeded, type PodFailure } from './pod-failure.js';
import type { PodHost } from './pod-host.js';
import { sysctlFailure } from './sysctls.js';

/** Whether a pod has failed as a whole: once it has, it stays so, and the next plane knows it too. */
export class PodFailures {
  readonly #host: Pick<PodHost, 'world' | 'events'>;
  readonly #directory: PodDirectory;
  #failure: PodFailure | undefined;
  #storageLookAtMs = 0;

  constructor(host: Pick<PodHost, 'world' | 'events'>, directory: PodDirectory) {
    this.#host = host;
    this.#directory = directory;
    this.#failure = directory.readFailure();
  }

  get failure(): PodFailure | undefined {
    return this.#failure;
  }

  /** A container has ended: what it has written is counted at the next check, for its next start may not come. */
  countSoon(): void {
    this.#storageLookAtMs = 0;
  }

  /** Looks for a reason to fail; an event tells of it. Returns when to look again, if ever. */
  async check(pod: Pod, startedAtMs: number): Promise<number | undefined> {
    if (this.#failure !== undefined) return undefined;
    const forbidden = sysctlFailure(pod);
    if (forbidden !== undefined) return this.#fail(pod, forbidden, 'Warning');
    const nowMs = this.#host.world.clock.now();
    const deadlineMs = activeDeadlineMs(pod, startedAtMs);
    if (deadlineMs !== undefined && nowMs >= deadlineMs) return this.#fail(pod, deadlineExceeded, 'Normal');
    if (!hasStorageLimits(pod)) return deadlineMs;
    if (nowMs >= this.#storageLookAtMs) {
      const failure = await storageFailure(pod, this.#directory);
      if (failure !== undefined) return this.#fail(pod, failure, 'Warning');
      this.#storageLookAtMs = nowMs + storageLookMs;
    }
    return Math.min(this.#storageLookAtMs, deadlineMs ?? this.#storageLookAtMs);
  }

  #fail(pod: Pod, failure: PodFailure, type: 'Normal' | 'Warning'): undefined {
    this.#failure = failure;
    this.#directory.writeFailure(failure);
    this.#host.events.record(pod, { type, reason: failure.reason, message: failure.message });
    return undefined;
  }
}
