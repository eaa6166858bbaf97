import type { Image } from './image.js';

/** A server that Debian has a package of, and how its usual image is laid out. */
export interface DebianProgram {
  /** Paths of the images that stand for it, without their registry. */
  readonly images: readonly string[];
  readonly path: string;
  readonly package: string;
  /** What people call it. */
  readonly name: string;
  /** What prints its version, the program itself when absent, and the version in what is printed. */
  readonly version: { readonly program?: string; readonly arguments: readonly string[]; readonly pattern: RegExp };
  /** What the image runs when the pod names no command, and the rest of what it is. */
  readonly image: Pick<Image, 'arguments'> &
    Partial<
      Pick<Image, 'entrypoint' | 'environment' | 'files' | 'links' | 'copies' | 'stopSignal' | 'workingDirectory'>
    >;
}
