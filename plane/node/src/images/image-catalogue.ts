import type { LayerFile, Mount } from '../sandbox/root-file-system.js';
import { EtcdRecipe } from './etcd-recipe.js';
import { type ImageName, parseImageName } from './image-name.js';
import { PauseRecipe } from './pause-recipe.js';
import { ShellRecipe } from './shell-recipe.js';

/** What an image name stands for on this machine: programs of the machine, put where the image would have them. */
export interface Image {
  /** For `status.containerStatuses[].imageID`: what runs in truth. */
  readonly id: string;
  /** What the program in the image would be called by people: `etcd 3.4.23 (Debian's etcd-server)`. */
  readonly description: string;
  /** Set when it is not what was asked for: one sentence that says so. */
  readonly substitution?: string;
  readonly mounts: readonly Mount[];
  readonly files: readonly LayerFile[];
  readonly entrypoint: readonly string[];
  readonly arguments: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly workingDirectory: string;
}

/** One family of images. */
export interface ImageRecipe {
  matches(image: ImageName): boolean;
  /** Throws `ImageError` when the machine has nothing that would do. */
  resolve(image: ImageName): Promise<Image>;
}

/** The image cannot be had. The message names what to install or which images there are. */
export class ImageError extends Error {
  override readonly name = 'ImageError';
}

export interface ImageCatalogueOptions {
  /** Holds `etcd/<version>/etcd` and the like: programs that were unpacked by hand or by the CLI. */
  readonly programDirectory: string;
}

/** Stands where a container runtime has its image store. There is no registry: images are programs that are there. */
export class ImageCatalogue {
  readonly #recipes: readonly ImageRecipe[];

  constructor(options: ImageCatalogueOptions) {
    this.#recipes = [new EtcdRecipe(options), new ShellRecipe(), new PauseRecipe()];
  }

  async resolve(image: string): Promise<Image> {
    const name = parseImageName(image);
    const recipe = this.#recipes.find((candidate) => candidate.matches(name));
    if (recipe !== undefined) return await recipe.resolve(name);
    throw new ImageError(
      `image "${image}" is not in this machine's catalogue: images here are programs of the machine (etcd, busybox, alpine, debian, ubuntu, pause); next: use one of these, or run this pod on a cluster with a container runtime`,
    );
  }
}
