import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

/** One file of a volume whose content comes from the API. */
export interface ProjectedFile {
  /** Within the volume. */
  readonly path: string;
  readonly content: Buffer;
  readonly mode: number;
}

const groupMayRead = 0o440;

/**
 * All files change at once: they live in a directory of their own, `..data` is a link to it, and each file is a link
 * through `..data`. A change makes a new directory and renames the link over the old one. With a group, that may read them.
 */
export function writeFiles(path: string, projected: readonly ProjectedFile[], group?: number): void {
  mkdirSync(path, { recursive: true });
  const files =
    group === undefined ? projected : projected.map((file) => ({ ...file, mode: file.mode | groupMayRead }));
  if (isWritten(path, files)) return;
  const version = `..${process.hrtime.bigint()}`;
  for (const file of files) {
    const target = join(path, version, file.path);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, file.content);
    if (group !== undefined) chownSync(target, 0, group);
    chmodSync(target, file.mode);
  }
  mkdirSync(join(path, version), { recursive: true });
  const link = join(path, '..data');
  symlinkSync(version, `${link}.new`);
  renameSync(`${link}.new`, link);
  const names = new Set(files.map((file) => file.path.split('/')[0] ?? ''));
  for (const name of names) if (!isLink(join(path, name))) symlinkSync(join('..data', name), join(path, name));
  for (const name of readdirSync(path)) {
    const isOldVersion = /^\.\.\d+$/.test(name) && name !== version;
    if (isOldVersion || (!name.startsWith('..') && !names.has(name))) rmSync(join(path, name), { recursive: true });
  }
}

/** The files are there as they are to be; a volume that nobody changed keeps its times and inodes. */
function isWritten(path: string, files: readonly ProjectedFile[]): boolean {
  const current = join(path, '..data');
  if (lstatSync(current, { throwIfNoEntry: false }) === undefined) return false;
  const known = filesBelow(realpathSync(current));
  return (
    known.length === new Set(files.map((file) => file.path)).size &&
    files.every((file) => {
      const place = join(current, file.path);
      const stat = statSync(place, { throwIfNoEntry: false });
      return stat?.isFile() === true && (stat.mode & 0o7777) === file.mode && readFileSync(place).equals(file.content);
    })
  );
}

function filesBelow(directory: string): readonly string[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name);
    return entry.isDirectory() ? filesBelow(path) : [path];
  });
}

/** The name is a link already, wherever it leads. */
function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
