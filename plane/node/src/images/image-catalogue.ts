import type { ImageStore } from '../image-store/image-store.js';
import { DebianProgramRecipe } from './debian-program-recipe.js';
import { EtcdRecipe } from './etcd-recipe.js';
import { type Image, type ImageRecipe, MissingImageError, type OfferedProgram } from './image.js';
import { parseImageName } from './image-name.js';
import { PauseRecipe } from './pause-recipe.js';
import { ShellRecipe } from './shell-recipe.js';
import { storedImage } from './stored-image.js';

/** Where programs are unpacked by hand, unless a plane is told another place. */
export const defaultProgramDirectory = '/var/cache/castellan/programs';

export interface ImageCatalogueOptions {
  /** Holds `etcd/<version>/etcd` and the like: programs that were unpacked by hand or by the CLI. */
  readonly programDirectory: string;
  /** Images that were loaded or pulled; none when absent. */
  readonly store?: ImageStore;
}

/** What image names stand for on this machine: images that were loaded, and programs that are there. */
export class ImageCatalogue {
  readonly #recipes: readonly ImageRecipe[];
  readonly #store: ImageStore | undefined;

  constructor(options: ImageCatalogueOptions) {
    this.#store = options.store;
    this.#recipes = [new EtcdRecipe(options), new ShellRecipe(), new PauseRecipe(), new DebianProgramRecipe()];
  }

  /**
   * An image that was loaded comes before a program of that name: somebody wanted it.
   *
   * @throws MissingImageError when there is neither, or the program is not installed.
   */
  async resolve(image: string): Promise<Image> {
    const name = parseImageName(image);
    const stored = this.#store === undefined ? undefined : await storedImage(this.#store, name);
    if (stored !== undefined) return stored;
    const recipe = this.#recipes.find((candidate) => candidate.matches(name));
    if (recipe !== undefined) return await recipe.resolve(name);
    const programs = this.#recipes.flatMap(({ shortNames }) => shortNames).sort();
    throw new MissingImageError(
      `image "${image}" is not on this machine: it was not loaded, and it is no program of the machine (${programs.join(', ')})`,
    );
  }

  /** The programs, whether they are installed or not. */
  async programs(): Promise<readonly OfferedProgram[]> {
    return (await Promise.all(this.#recipes.map((recipe) => recipe.offers()))).flat();
  }
}
