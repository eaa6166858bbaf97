import type { Pod } from '@castellan/machinery';
import type { World } from '@castellan/world';

/**
 * What a container runs, in place of a real program. `start` is called for every start of the container; what it returns is
 * asked and told what kubelet asks and tells a process.
 */
export interface SimulatedProgram {
  start(container: SimulatedContainer): RunningProgram;
}

/** One start of one container, as its program sees it. */
export interface SimulatedContainer {
  readonly world: World;
  /** As it was when the container was started. */
  readonly pod: Pod;
  readonly name: string;
  readonly podIp: string;
  /** The pod's volumes: what is in it outlives the container and goes with the pod; with a claim, it goes with the claim. */
  readonly disk: Map<string, unknown>;
  /** Ends the program by itself. */
  exit(code: number): void;
  /** What `isReady` says has changed. */
  changed(): void;
}

export interface RunningProgram {
  /** What a readiness probe finds; always when absent. */
  isReady?(): boolean;
  /** The program has been killed or has ended; called once, whatever the reason. */
  ended?(): void;
}

/** The program of a container; `undefined`: one that does nothing. */
export type ProgramOf = (pod: Pod, container: string) => SimulatedProgram | undefined;
