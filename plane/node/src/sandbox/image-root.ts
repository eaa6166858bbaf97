import { existsSync, mkdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { resolveInside } from '../image-store/inside-root.js';
import { requireCommand, runCommand } from './command.js';
import type { LayerFile } from './root-file-system.js';

/** The root of a container whose files are those of an unpacked image. */
export interface ImageRoot {
  /** What is `/` of the container, once it is entered by `entry`. */
  readonly path: string;
  /** Comes before the command that makes the container. */
  readonly entry: readonly string[];
}

const copyDeadlineMs = 10 * 60_000;

/** In a mount namespace that ends with the container: nothing is to be cleaned up. Paths are relative, for they may have commas. */
const mountScript = `
cd "$1" && mount -t overlay overlay -o "lowerdir=image,upperdir=layer,workdir=work$2" root || exit 128
shift 2; cd / && exec "$@"`;

/**
 * Makes a root of its own over an image for one start of a container: what the container writes is in `layer`, and the image
 * stays as it is. Where the kernel has no overlays to give, the image is copied.
 */
export async function makeImageRoot(
  directory: string,
  image: string,
  content: { readonly files: readonly LayerFile[]; readonly directories: readonly string[] },
  findOverlayOptions: typeof overlayOptionsFor = overlayOptionsFor,
): Promise<ImageRoot> {
  const layer = join(directory, 'layer');
  mkdirSync(layer, { recursive: true, mode: 0o755 });
  symlinkSync(image, join(directory, 'image'));
  const overlayOptions = await findOverlayOptions(directory);
  if (overlayOptions === undefined) {
    await requireCommand('cp', ['-a', '--reflink=auto', `${image}/.`, layer], { deadlineMs: copyDeadlineMs });
  }
  const base = overlayOptions === undefined ? layer : image;
  for (const path of content.directories) mkdirSync(placeIn(layer, base, path), { recursive: true });
  for (const { path, content: text, mode } of content.files) {
    const place = placeIn(layer, base, path);
    mkdirSync(dirname(place), { recursive: true });
    // The image may have a link there, which leads nowhere or out.
    rmSync(place, { force: true });
    writeFileSync(place, text, { mode: mode ?? 0o644 });
  }
  if (overlayOptions === undefined) return { path: layer, entry: [] };
  for (const name of ['work', 'root']) mkdirSync(join(directory, name));
  const alone = ['unshare', '--mount', '--propagation', 'private', '--'];
  const entry = [...alone, '/bin/sh', '-c', mountScript, 'castellan-root', directory, overlayOptions];
  return { path: join(directory, 'root'), entry };
}

/** Whether this start has the root of an image. */
export function hasImageRoot(directory: string): boolean {
  return existsSync(join(directory, 'image'));
}

/** Where a path of the container is to be written: links of the image on the way are followed, within it. */
function placeIn(layer: string, base: string, path: string): string {
  return join(layer, relative(base, resolveInside(base, path, { isReadOnly: true })));
}

/** By disk. */
const known = new Map<number, Promise<string | undefined>>();

/**
 * Options with which the kernel mounts an overlay whose upper directory is on this disk; `undefined` when it does not. In a
 * user namespace it takes attributes of its own. Tried once for a disk.
 */
function overlayOptionsFor(directory: string): Promise<string | undefined> {
  const { dev } = statSync(directory);
  const found = known.get(dev) ?? tryOverlays(join(directory, 'overlay-trial'));
  known.set(dev, found);
  return found;
}

async function tryOverlays(trial: string): Promise<string | undefined> {
  try {
    for (const name of ['image', 'layer', 'work', 'root']) mkdirSync(join(trial, name), { recursive: true });
    for (const options of ['', ',userxattr']) {
      const alone = ['--mount', '--propagation', 'private', '--'];
      const words = ['/bin/sh', '-c', mountScript, 'castellan-trial', trial, options, 'true'];
      const { exitCode } = await runCommand('unshare', [...alone, ...words]);
      if (exitCode === 0) return options;
    }
    return undefined;
  } finally {
    rmSync(trial, { recursive: true, force: true });
  }
}
