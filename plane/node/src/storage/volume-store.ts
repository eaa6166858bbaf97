/** Where the content of provisioned volumes is. A name is that of the PersistentVolume. */
export interface VolumeStore {
  /** Where pods find the volume, once it is published. */
  pathOf(name: string): string;
  /** Makes an empty volume that no pod sees yet; nothing where it is there already. */
  prepare(name: string): void;
  /** What is prepared is there for pods from now on; nothing where nothing is prepared. */
  publish(name: string): void;
  /** What was prepared and not published: it was never used. */
  prepared(): readonly string[];
  /** Removes a volume, published or only prepared, with all that is in it; nothing where there is none. */
  remove(name: string): Promise<void>;
  /** Completes removals that were stopped in the middle. */
  completeRemovals(): Promise<void>;
  /** Bytes that the disk has in all. */
  totalBytes(): number;
}

/** A machine that keeps volumes for its nodes. */
export interface LocalStorageOptions {
  readonly volumes: VolumeStore;
  /** Names of the machine's nodes that run now; those that are off make and delete nothing. */
  runningNodes(): readonly string[];
}
