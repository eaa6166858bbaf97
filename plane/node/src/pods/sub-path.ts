import { chmodSync, existsSync, mkdirSync, realpathSync, statSync } from 'node:fs';
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
  make(source, statSync(root).mode);
  return realpathSync(source);
}

/** Who may write to the volume may write to what is made in it. */
function make(path: string, mode: number): void {
  if (existsSync(path)) return;
  make(dirname(path), mode);
  mkdirSync(path);
  // Keeps what it has inherited: the group of the volume.
  chmodSync(path, (statSync(path).mode & 0o7000) | (mode & 0o777));
}

function nearestPresent(path: string): string {
  return existsSync(path) ? path : nearestPresent(dirname(path));
}
