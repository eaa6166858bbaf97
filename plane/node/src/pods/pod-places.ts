import { podsOnDisk } from './pod-directory.js';

/**
 * Which places of the plane's network pods have. Their records say so; they are read once, for only this process writes
 * them, and a machine with many pods starts many.
 */
export class PodPlaces {
  readonly #dataDirectory: string;
  #places: Map<string, number> | undefined;

  constructor(dataDirectory: string) {
    this.#dataDirectory = dataDirectory;
  }

  /** The place of a pod, as `choose` picks it from what is not used. To be written down before anybody else may ask. */
  take(uid: string, choose: (used: ReadonlySet<number>) => number): number {
    const places = this.#read();
    const place = choose(new Set(places.values()));
    places.set(uid, place);
    return place;
  }

  /** The pod's record is gone. */
  release(uid: string): void {
    this.#read().delete(uid);
  }

  #read(): Map<string, number> {
    this.#places ??= new Map(
      podsOnDisk(this.#dataDirectory).flatMap((pod) => {
        const record = pod.read();
        return record === undefined ? [] : [[pod.uid, record.networkIndex] as const];
      }),
    );
    return this.#places;
  }
}
