import type { VolumeStore } from '@castellan/node';

/** What is in one volume: as a program has put it there. */
export type SimulatedDisk = Map<string, unknown>;

const defaultBytes = 2 ** 40;

/** The volumes of all simulated nodes. They outlive the nodes' processes, as disks do. */
export class SimulatedVolumes implements VolumeStore {
  readonly #prepared = new Set<string>();
  readonly #disks = new Map<string, SimulatedDisk>();

  /** Names of those that are there, prepared ones too. */
  get names(): readonly string[] {
    return [...this.#prepared, ...this.#disks.keys()];
  }

  disk(name: string): SimulatedDisk | undefined {
    return this.#disks.get(name);
  }

  pathOf(name: string): string {
    return `/volumes/${name}`;
  }

  prepare(name: string): void {
    if (!this.#disks.has(name)) this.#prepared.add(name);
  }

  publish(name: string): void {
    if (this.#prepared.delete(name)) this.#disks.set(name, new Map());
  }

  prepared(): readonly string[] {
    return [...this.#prepared];
  }

  async remove(name: string): Promise<void> {
    this.#prepared.delete(name);
    this.#disks.delete(name);
  }

  async completeRemovals(): Promise<void> {}

  totalBytes(): number {
    return defaultBytes;
  }
}
