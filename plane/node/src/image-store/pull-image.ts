import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseImageName } from '../images/image-name.js';
import { runCommand } from '../sandbox/command.js';
import { fullName, type ImageStore, type LoadProgress } from './image-store.js';
import { type LoadedImage, loadArchive } from './load-archive.js';

export interface PullOptions {
  readonly nowMs: number;
  /** The machine's when absent. */
  readonly skopeo?: string;
  readonly onProgress?: (progress: LoadProgress) => void;
  readonly signal?: AbortSignal;
}

/** An image did not come from its registry. The message says what was tried, why it failed, and another way. */
export class PullError extends Error {
  override readonly name = 'PullError';
}

/** Where Debian has the program that speaks with registries. */
export const machineSkopeo = '/usr/bin/skopeo';
const pullDeadlineMs = 15 * 60_000;

/**
 * Brings an image from its registry into the store, by skopeo, with the credentials that skopeo finds.
 *
 * @throws PullError when there is no skopeo, or it fails.
 */
export async function pullImage(store: ImageStore, image: string, options: PullOptions): Promise<LoadedImage> {
  const name = fullName(parseImageName(image));
  const { skopeo = machineSkopeo, signal } = options;
  if (!existsSync(skopeo)) {
    throw new PullError(`this machine has no skopeo to pull it with; next: ${otherWays(image)}`);
  }
  return await store.withTemporary(async (directory) => {
    const archive = join(directory, 'pulled.tar');
    const args = [
      'copy',
      '--quiet',
      '--override-os',
      'linux',
      `docker://${withLibrary(name)}`,
      `docker-archive:${archive}`,
    ];
    const result = await runCommand(skopeo, args, {
      deadlineMs: pullDeadlineMs,
      ...(signal === undefined ? {} : { signal }),
    });
    if (result.exitCode !== 0) {
      const why = result.timedOut ? 'it did not come within 15 minutes' : lastLine(result.stderr);
      throw new PullError(`skopeo did not get it: ${why}; next: check name and network, or ${otherWays(image)}`);
    }
    const [loaded] = await loadArchive(store, archive, { ...options, name: image, origin: 'registry' });
    if (loaded === undefined) throw new PullError(`skopeo gave an archive without an image; next: ${otherWays(image)}`);
    return loaded;
  });
}

/** Docker Hub has its own images in a folder that their short names leave out. */
function withLibrary(name: string): string {
  return name.replace(/^docker\.io\/([^/]+)$/, 'docker.io/library/$1');
}

function otherWays(image: string): string {
  return `where the image is, \`docker save ${image} -o image.tar\`, and here \`castellan image load image.tar\``;
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1)?.trim() ?? '';
}
