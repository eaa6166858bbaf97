import type { LayerFile, LayerLink, Mount } from '../sandbox/root-file-system.js';
import type { ImageName } from './image-name.js';

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
  readonly links?: readonly LayerLink[];
  /** As in `RootFileSystem`. */
  readonly copies?: readonly string[];
  readonly entrypoint: readonly string[];
  readonly arguments: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly workingDirectory: string;
  /** Asks its program to end; SIGTERM when absent. */
  readonly stopSignal?: NodeJS.Signals;
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
