import { DebianProgramRecipe } from './debian-program-recipe.js';
import { EtcdRecipe } from './etcd-recipe.js';
import { type Image, ImageError, type ImageRecipe } from './image.js';
import { parseImageName } from './image-name.js';
import { PauseRecipe } from './pause-recipe.js';
import { ShellRecipe } from './shell-recipe.js';

export interface ImageCatalogueOptions {
  /** Holds `etcd/<version>/etcd` and the like: programs that were unpacked by hand or by the CLI. */
  readonly programDirectory: string;
}

/** Stands where a container runtime has its image store. There is no registry: images are programs that are there. */
export class ImageCatalogue {
  readonly #recipes: readonly ImageRecipe[];

  constructor(options: ImageCatalogueOptions) {
    this.#recipes = [new EtcdRecipe(options), new ShellRecipe(), new PauseRecipe(), new DebianProgramRecipe()];
  }

  async resolve(image: string): Promise<Image> {
    const name = parseImageName(image);
    const recipe = this.#recipes.find((candidate) => candidate.matches(name));
    if (recipe !== undefined) return await recipe.resolve(name);
    throw new ImageError(
      `image "${image}" is not in this machine's catalogue: images here are programs of the machine (etcd, memcached, nginx, busybox, alpine, debian, ubuntu, pause); next: use one of these, or run this pod on a cluster with a container runtime`,
    );
  }
}
