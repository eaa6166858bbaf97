import { lstatSync, mkdirSync, readlinkSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { ArchiveError } from './archive-error.js';

/** As many links as Linux follows in one path. */
const mostLinks = 40;

/** What is at a path, without following it; `undefined` when nothing is. */
export function lstatIfAny(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}

/**
 * The parts of a path within an image. `..` would lead out of it, so it is refused and not resolved.
 *
 * @throws ArchiveError when it leads out.
 */
export function partsWithin(path: string): readonly string[] {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  if (parts.includes('..') || path.includes('\0')) {
    throw new ArchiveError(
      `"${path}" leads out of the image: nothing of it was unpacked; next: get the image from whoever made it`,
    );
  }
  return parts;
}

/**
 * Where a path of an image is on this machine. Links on the way are followed as they would be with `root` for `/`: none leads
 * out. The last part is not followed. Directories that are missing on the way are made unless `isReadOnly`.
 *
 * @throws ArchiveError when there are too many links, or a file is on the way.
 */
export function resolveInside(
  root: string,
  path: string,
  { isReadOnly = false }: { readonly isReadOnly?: boolean } = {},
): string {
  const parts = partsWithin(path);
  const name = parts.at(-1);
  if (name === undefined) return root;
  return join(root, ...directoryInside(root, parts.slice(0, -1), isReadOnly), name);
}

function directoryInside(root: string, wanted: readonly string[], isReadOnly: boolean): readonly string[] {
  let left = [...wanted];
  let at: string[] = [];
  let links = 0;
  for (let part = left.shift(); part !== undefined; part = left.shift()) {
    if (part === '..') {
      at = at.slice(0, -1);
      continue;
    }
    const here = join(root, ...at, part);
    const found = lstatIfAny(here);
    if (found?.isSymbolicLink() === true) {
      links += 1;
      if (links > mostLinks) throw new ArchiveError(`/${wanted.join('/')} goes through more than ${mostLinks} links`);
      const target = readlinkSync(here);
      if (target.startsWith('/')) at = [];
      left = [...target.split('/').filter((each) => each !== '' && each !== '.'), ...left];
      continue;
    }
    if (found === undefined && !isReadOnly) mkdirSync(here, { mode: 0o755 });
    else if (found?.isDirectory() === false)
      throw new ArchiveError(`/${[...at, part].join('/')} is a file and no directory`);
    at.push(part);
  }
  return at;
}
