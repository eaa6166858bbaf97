import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  statfsSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { VolumeStore } from './volume-store.js';

const preparedFolder = '.prepared';
const removedFolder = '.removed';
/** As provisioners name volumes: after the claim's uid. Nothing that leads elsewhere has this form. */
const volumeName = /^pvc-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * A directory for each volume, below `volumes/` of the data directory; it outlives plane and machine. Each is made under another
 * name and then renamed, and so removed: whatever moment we are stopped at, a volume is whole or not there.
 */
export class VolumeDirectories implements VolumeStore {
  readonly #root: string;

  constructor(dataDirectory: string) {
    this.#root = join(dataDirectory, 'volumes');
  }

  pathOf(name: string): string {
    return join(this.#root, checked(name));
  }

  prepare(name: string): void {
    const target = join(this.#root, preparedFolder, checked(name));
    if (existsSync(this.pathOf(name)) || existsSync(target)) return;
    // Others on the machine do not get past this; containers see volumes by mounts, as whatever user they are.
    mkdirSync(this.#root, { recursive: true, mode: 0o700 });
    mkdirSync(target, { recursive: true });
    chmodSync(target, 0o777);
    keep(join(this.#root, preparedFolder));
  }

  publish(name: string): void {
    const source = join(this.#root, preparedFolder, checked(name));
    if (!existsSync(source)) return;
    renameSync(source, this.pathOf(name));
    keep(this.#root);
  }

  prepared(): readonly string[] {
    return namesIn(join(this.#root, preparedFolder));
  }

  async remove(name: string): Promise<void> {
    for (const source of [this.pathOf(name), join(this.#root, preparedFolder, name)]) {
      const stat = lstatSync(source, { throwIfNoEntry: false });
      if (stat === undefined) continue;
      if (!stat.isDirectory())
        throw new Error(`${source} is not a directory; next: look who has put it there, and remove it`);
      const target = join(this.#root, removedFolder, name);
      await rm(target, { recursive: true, force: true });
      mkdirSync(join(this.#root, removedFolder), { recursive: true });
      renameSync(source, target);
      await rm(target, { recursive: true, force: true });
    }
  }

  async completeRemovals(): Promise<void> {
    for (const name of namesIn(join(this.#root, removedFolder))) {
      await rm(join(this.#root, removedFolder, name), { recursive: true, force: true });
    }
  }

  totalBytes(): number {
    mkdirSync(this.#root, { recursive: true, mode: 0o700 });
    const { blocks, bsize } = statfsSync(this.#root);
    return blocks * bsize;
  }
}

function checked(name: string): string {
  if (volumeName.test(name)) return name;
  throw new Error(`"${name}" is not the name of a volume that was made here; next: delete what it stands for by hand`);
}

function namesIn(directory: string): readonly string[] {
  return existsSync(directory) ? readdirSync(directory).filter((name) => volumeName.test(name)) : [];
}

/** A change of a directory that was told to the API server is there after a loss of power too. */
function keep(directory: string): void {
  const file = openSync(directory, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
