import { existsSync, mkdirSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { VolumeError } from './volume-error.js';

/**
 * What a container sees of a volume of which it mounts a part; a directory that is not there is made. A link in the volume
 * may have been made by a container: it is followed only within the volume, else it would show files of the machine.
 */
export function subPathOf(volume: string, path: string): string {
  const root = realpathSync(volume);
  const source = join(root, path);
  const isWithin = (place: string) => place === root || place.startsWith(`${root}/`);
  if (!isWithin(source) || !isWithin(realpathSync(nearestPresent(source)))) {
    throw new VolumeError(`subPath "${path}" leaves its volume`);
  }
  if (!existsSync(source)) mkdirSync(source, { recursive: true });
  return realpathSync(source);
}

function nearestPresent(path: string): string {
  return existsSync(path) ? path : nearestPresent(dirname(path));
}
