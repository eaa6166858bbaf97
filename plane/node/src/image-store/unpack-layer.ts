import {
  chmodSync,
  chownSync,
  closeSync,
  lchownSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { ArchiveError } from './archive-error.js';
import { lstatIfAny, partsWithin, resolveInside } from './inside-root.js';
import { readTar, type TarMember } from './tar-reader.js';

const whiteout = '.wh.';
const opaque = '.wh..wh..opq';

/**
 * Puts a layer of an image over what is in `root`: what it has replaces what was there, what its whiteouts name goes. Nothing
 * is written outside of `root`, whatever names and links the layer has. Devices and pipes are left out: containers have a /dev
 * of their own. Source: OCI image specification, "Image Layer Filesystem Changeset".
 *
 * @throws ArchiveError when a name leads out of the image, or the layer is damaged.
 */
export async function unpackLayer(layer: AsyncIterable<Uint8Array>, root: string): Promise<void> {
  // What this layer itself has put into a directory is not what it hides there.
  const own = new Set<string>();
  for await (const member of readTar(layer)) {
    const parts = partsWithin(member.path);
    const name = parts.at(-1) ?? '';
    if (name === opaque) emptyDirectory(resolveInside(root, parts.slice(0, -1).join('/')), own);
    else if (name.startsWith(whiteout)) hide(root, parts, own);
    else own.add(await unpackMember(member, root));
  }
}

/** Gives where it was put. */
async function unpackMember(member: TarMember, root: string): Promise<string> {
  const path = resolveInside(root, member.path);
  if (path === root && member.type !== 'directory') throw new ArchiveError(`the root of the image is a ${member.type}`);
  switch (member.type) {
    case 'directory':
      makeDirectory(path, member, root);
      return path;
    case 'file':
      replace(path);
      await writeFile(path, member);
      return path;
    case 'symbolic link':
      replace(path);
      symlinkSync(member.target, path);
      giveTo(path, member, lchownSync);
      return path;
    case 'hard link':
      linkFile(path, member, root);
      return path;
    case 'device':
    case 'pipe':
      return path;
  }
}

function makeDirectory(path: string, member: TarMember, root: string): void {
  // The root itself is there, and may be a link of nobody's making.
  if (path !== root && lstatIfAny(path)?.isDirectory() !== true) {
    replace(path);
    mkdirSync(path);
  }
  giveTo(path, member, chownSync);
  chmodSync(path, member.mode);
}

async function writeFile(path: string, member: TarMember): Promise<void> {
  const file = openSync(path, 'wx', 0o600);
  try {
    for await (const part of member.content()) {
      for (let written = 0; written < part.length; ) written += writeSync(file, part, written);
    }
  } finally {
    closeSync(file);
  }
  giveTo(path, member, chownSync);
  chmodSync(path, member.mode);
  utimesSync(path, member.modifiedAt, member.modifiedAt);
}

/** To a file of this layer or of one below. A link to a link, or to a directory, is none that tar makes. */
function linkFile(path: string, member: TarMember, root: string): void {
  const source = resolveInside(root, member.target, { isReadOnly: true });
  const found = lstatIfAny(source);
  if (found === undefined || found.isDirectory()) {
    throw new ArchiveError(`${member.path} is a link to ${member.target}, which the image does not have`);
  }
  if (source === path) return;
  replace(path);
  linkSync(source, path);
}

function hide(root: string, parts: readonly string[], own: ReadonlySet<string>): void {
  const name = (parts.at(-1) ?? '').slice(whiteout.length);
  if (name === '' || name === '.' || name === '..')
    throw new ArchiveError(`"${parts.join('/')}" hides nothing that can be hidden`);
  const path = resolveInside(root, [...parts.slice(0, -1), name].join('/'));
  if (!own.has(path)) replace(path);
}

function emptyDirectory(path: string, own: ReadonlySet<string>): void {
  if (lstatIfAny(path)?.isDirectory() !== true) return;
  for (const name of readdirSync(path)) {
    const child = join(path, name);
    const isOwn = [...own].some((each) => each === child || each.startsWith(`${child}/`));
    if (!isOwn) rmSync(child, { recursive: true, force: true });
  }
}

function replace(path: string): void {
  rmSync(path, { recursive: true, force: true });
}

/** Only root may, and root of a user namespace only to those that are there: elsewhere all is whose the process is. */
function giveTo(
  path: string,
  { user, group }: TarMember,
  chown: (path: string, user: number, group: number) => void,
): void {
  if (process.getuid?.() !== 0) return;
  try {
    chown(path, user, group);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && (error.code === 'EINVAL' || error.code === 'EPERM')))
      throw error;
  }
}
