import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isRecord } from '@castellan/machinery';
import { type ImageName, parseImageName } from '../images/image-name.js';
import { requireCommand } from '../sandbox/command.js';
import { isMissing, readRecord, writeRecord } from '../sandbox/record-file.js';
import { ArchiveError } from './archive-error.js';
import type { ArchivedImage } from './image-archive.js';
import { type ImageConfig, parseStoredConfig } from './image-config.js';

/** An image that was unpacked on this machine. */
export interface StoredImage {
  readonly name: string;
  /** `sha256:…`, of its configuration. */
  readonly id: string;
  /** Of its layers, as they came. */
  readonly bytes: number;
  readonly loadedAtMs: number;
  /** A registry can be asked again for what came from one. */
  readonly origin: ImageOrigin;
  readonly config: ImageConfig;
  /** Its files. Nothing may be changed there. */
  readonly root: string;
}

export type ImageOrigin = 'archive' | 'registry';

export interface LoadProgress {
  readonly name: string;
  /** Counts from 1. */
  readonly layer: number;
  readonly layers: number;
  /** Of all layers, as they lie in the archive. */
  readonly bytes: number;
  readonly totalBytes: number;
}

/** A whole disk is told to keep an image. */
const syncDeadlineMs = 10 * 60_000;

/**
 * The images of a data directory: `names/NAME.json` says which content a name is, and `sha256-…` is the content, complete
 * from the moment that it is there. What a process that was killed has left unfinished, the next one removes. Several
 * processes may load and read at once.
 */
export class ImageStore {
  readonly #directory: string;

  constructor(dataDirectory: string) {
    this.#directory = join(dataDirectory, 'images');
  }

  find(name: ImageName): StoredImage | undefined {
    return this.#read(fullName(name));
  }

  /** By name. */
  list(): readonly StoredImage[] {
    const names = namesIn(join(this.#directory, 'names')).map((file) =>
      decodeURIComponent(file.replace(/\.json$/, '')),
    );
    return names.sort().flatMap((name) => this.#read(name) ?? []);
  }

  /** A directory on the disk of the images, for what is yet to be unpacked; it is gone when `use` is done. */
  async withTemporary<T>(use: (directory: string) => Promise<T>): Promise<T> {
    this.#removeLeft();
    const directory = join(this.#directory, `new-${process.pid}-${randomUUID().slice(0, 8)}`);
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    try {
      return await use(directory);
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  }

  /** Makes what `root` has the content of an image, and gives it these names. `root` is on the disk of the images. */
  async keep(
    image: Pick<ArchivedImage, 'id' | 'config'> & { readonly names: readonly string[]; readonly bytes: number },
    root: string,
    { origin, loadedAtMs }: Pick<StoredImage, 'origin' | 'loadedAtMs'>,
  ): Promise<void> {
    const content = this.#contentOf(image.id);
    if (!existsSync(content)) {
      const complete = join(root, '..', 'complete');
      mkdirSync(complete);
      renameSync(root, join(complete, 'root'));
      writeRecord(join(complete, 'image.json'), { config: image.config, bytes: image.bytes });
      await requireCommand('sync', ['-f', complete], { deadlineMs: syncDeadlineMs });
      moveInto(complete, content);
    }
    mkdirSync(join(this.#directory, 'names'), { recursive: true });
    for (const name of image.names) {
      const file = `${encodeURIComponent(fullName(parseImageName(name)))}.json`;
      writeRecord(join(this.#directory, 'names', file), { id: image.id, origin, loadedAtMs });
    }
  }

  has(id: string): boolean {
    return existsSync(this.#contentOf(id));
  }

  #read(name: string): StoredImage | undefined {
    const named = readRecord(join(this.#directory, 'names', `${encodeURIComponent(name)}.json`));
    if (!isRecord(named) || typeof named.id !== 'string') return undefined;
    const content = this.#contentOf(named.id);
    const image = readRecord(join(content, 'image.json'));
    if (!isRecord(image)) return undefined;
    return {
      name,
      id: named.id,
      bytes: Number(image.bytes),
      loadedAtMs: Number(named.loadedAtMs),
      origin: named.origin === 'registry' ? 'registry' : 'archive',
      config: parseStoredConfig(image.config),
      root: join(content, 'root'),
    };
  }

  #contentOf(id: string): string {
    if (!/^sha256:[0-9a-f]{64}$/.test(id)) throw new ArchiveError(`"${id}" is no digest of an image`);
    return join(this.#directory, id.replace(':', '-'));
  }

  #removeLeft(): void {
    for (const name of namesIn(this.#directory)) {
      const pid = Number(/^new-(\d+)-/.exec(name)?.[1]);
      if (pid > 0 && !isRunning(pid)) rmSync(join(this.#directory, name), { recursive: true, force: true });
    }
  }
}

/** `registry/path:tag`, as names are compared. */
export function fullName({ registry, path, tag }: ImageName): string {
  return `${registry}/${path}${tag.includes(':') ? '@' : ':'}${tag}`;
}

/** Another process may have loaded the same content in the meantime: it is the same. */
function moveInto(complete: string, content: string): void {
  try {
    renameSync(complete, content);
  } catch (error) {
    if (!existsSync(content)) throw error;
  }
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
