import { existsSync } from 'node:fs';
import type { World } from '@castellan/world';
import type { ImageStore } from './image-store.js';
import type { LoadedImage } from './load-archive.js';
import { machineSkopeo, pullImage } from './pull-image.js';

/** An image on its way from a registry. */
export interface Pull {
  outcome(): PullOutcome;
}

export type PullOutcome =
  | { readonly kind: 'running' }
  | { readonly kind: 'done'; readonly image: LoadedImage; readonly tookMs: number }
  | { readonly kind: 'failed'; readonly message: string };

/** The pulls of a machine: containers that want the same image at the same time share one. */
export class ImagePulls {
  readonly #store: ImageStore;
  readonly #world: World;
  readonly #skopeo: string;
  readonly #stop = new AbortController();
  readonly #running = new Map<string, Pull>();

  constructor(store: ImageStore, world: World, skopeo = machineSkopeo) {
    this.#store = store;
    this.#world = world;
    this.#skopeo = skopeo;
  }

  /** Whether this machine has the program that speaks with registries. */
  get canPull(): boolean {
    return existsSync(this.#skopeo);
  }

  /** Begins to pull an image, unless that goes on already. */
  begin(image: string): Pull {
    const running = this.#running.get(image);
    if (running !== undefined) return running;
    let outcome: PullOutcome = { kind: 'running' };
    const pull: Pull = { outcome: () => outcome };
    this.#running.set(image, pull);
    const { clock } = this.#world;
    const begunMs = clock.monotonicNow();
    void pullImage(this.#store, image, { nowMs: clock.now(), skopeo: this.#skopeo, signal: this.#stop.signal })
      .then(
        (loaded): PullOutcome => ({ kind: 'done', image: loaded, tookMs: clock.monotonicNow() - begunMs }),
        (error: unknown): PullOutcome => ({
          kind: 'failed',
          message: error instanceof Error ? error.message : String(error),
        }),
      )
      .then((ended) => {
        outcome = ended;
        this.#running.delete(image);
      });
    return pull;
  }

  /** Ends those that run. */
  close(): void {
    this.#stop.abort(new Error('the machine stops'));
  }
}
