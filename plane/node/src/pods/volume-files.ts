import { chmodSync, lstatSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** One file of a volume whose content comes from the API. */
export interface ProjectedFile {
  /** Within the volume. */
  readonly path: string;
  readonly content: Buffer;
  readonly mode: number;
}

/**
 * All files change at once: they live in a directory of their own, `..data` is a link to it, and each file is a link
 * through `..data`. A change makes a new directory and renames the link over the old one.
 */
export function writeFiles(path: string, files: readonly ProjectedFile[]): void {
  mkdirSync(path, { recursive: true });
  const version = `..${process.hrtime.bigint()}`;
  for (const file of files) {
    const target = join(path, version, file.path);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, file.content);
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

/** The name is a link already, wherever it leads. */
function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
