import type { LayerFile, LayerLink, Mount } from '../sandbox/root-file-system.js';
import type { ImageName } from './image-name.js';

/** What an image name stands for on this machine: programs of it, put where the image would have them, or an unpacked image. */
export interface Image {
  /** For `status.containerStatuses[].imageID`: what runs in truth. */
  readonly id: string;
  /** What the program in the image would be called by people: `etcd 3.4.23 (Debian's etcd-server)`. */
  readonly description: string;
  /** Set when it is not what was asked for: one sentence that says so. */
  readonly substitution?: string;
  /** The files of an unpacked image; the machine's programs when absent. */
  readonly root?: string;
  /** As whom it runs unless the pod says; root when absent. */
  readonly user?: ImageUser;
  /** It came from a registry, which can be asked again. */
  readonly isFromRegistry?: boolean;
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

/** Whom an image names as the one who runs it. */
export interface ImageUser {
  readonly user: number;
  readonly group: number;
  /** Further groups. */
  readonly groups: readonly number[];
}

/** One family of images. */
export interface ImageRecipe {
  /** As people call its images. */
  readonly shortNames: readonly string[];
  matches(image: ImageName): boolean;
  /** Throws `ImageError` when the machine has nothing that would do. */
  resolve(image: ImageName): Promise<Image>;
  /** What it would resolve to, version by version. */
  offers(): Promise<readonly OfferedProgram[]>;
}

/** A program of the machine that stands for images. */
export interface OfferedProgram {
  /** Names of images, without registry and tag. */
  readonly images: readonly string[];
  /** `undefined` when it is not installed, or has none. */
  readonly version?: string;
  /** `Debian's memcached`, or the directory that it was unpacked in. */
  readonly origin: string;
  /** What to do to have it, when it is not there. */
  readonly next?: string;
}

/** The image cannot be had. The message names what to install or which images there are. */
export class ImageError extends Error {
  override readonly name: string = 'ImageError';
}

/** There is no such image on this machine: it may be on a registry. */
export class MissingImageError extends ImageError {
  override readonly name = 'MissingImageError';
}
