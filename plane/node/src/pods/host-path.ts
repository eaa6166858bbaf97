import { mkdirSync, type Stats, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Volume } from '@castellan/machinery';
import { VolumeError } from './volume-error.js';

/** What a path must be for each `type` of a hostPath, in kubelet's words. */
const kinds: Readonly<Record<string, { readonly name: string; is(stat: Stats): boolean }>> = {
  Directory: { name: 'directory', is: (stat) => stat.isDirectory() },
  DirectoryOrCreate: { name: 'directory', is: (stat) => stat.isDirectory() },
  File: { name: 'file', is: (stat) => stat.isFile() },
  FileOrCreate: { name: 'file', is: (stat) => stat.isFile() },
  Socket: { name: 'socket file', is: (stat) => stat.isSocket() },
  CharDevice: { name: 'character device', is: (stat) => stat.isCharacterDevice() },
  BlockDevice: { name: 'block device', is: (stat) => stat.isBlockDevice() },
};

/** Makes what the type asks to be made. Throws a VolumeError where the machine has something else, or nothing. */
export function ensureHostPath({ path, type = '' }: NonNullable<Volume['hostPath']>): void {
  const found = statSync(path, { throwIfNoEntry: false });
  try {
    // Where no type is named, container runtimes make a directory.
    if (found === undefined && (type === 'DirectoryOrCreate' || type === '')) mkdirSync(path, { recursive: true });
    if (found === undefined && type === 'FileOrCreate') {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, '', { mode: 0o644 });
    }
  } catch (error) {
    throw new VolumeError(`hostPath "${path}" cannot be made: ${error instanceof Error ? error.message : error}`);
  }
  const kind = kinds[type];
  if (kind === undefined) return;
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined || !kind.is(stat)) {
    throw new VolumeError(`hostPath type check failed: ${path} is not a ${kind.name}`);
  }
}
