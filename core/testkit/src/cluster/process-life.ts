import type { Clock, ProcessWorld } from '@castellan/world';

/** One life of a process as its connection and the faults see it. */
export interface ProcessLife {
  /** The same for all lives of a process. */
  readonly party: string;
  /** The party with the number of its life: what the history calls it. */
  readonly life: string;
  readonly world: ProcessWorld;
  /** The time of what is outside of it, which goes on when it is dead. */
  readonly network: Clock;
  readonly isPartitioned: boolean;
  /** Goes on only if the process is alive. */
  alive(): Promise<void>;
  /** Goes on when it is connected. Fails when it was not, as its connection is broken by then. */
  connected(signal?: AbortSignal): Promise<void>;
  noteWrite(text: string): void;
  noteEvent(path: string): void;
  /** Cuts it off; the result connects it again. */
  partition(): () => void;
  useReplica(lagMs: number): void;
  cutWatches(): void;
  crash(restartMs?: number): void;
}
