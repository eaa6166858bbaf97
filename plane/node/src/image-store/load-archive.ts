import { createHash } from 'node:crypto';
import { closeSync, createReadStream, createWriteStream, mkdirSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { ArchiveError } from './archive-error.js';
import { decompressed } from './decompressed.js';
import { type ArchivedImage, type ArchivedLayer, openImageArchive } from './image-archive.js';
import type { ImageOrigin, ImageStore, LoadProgress } from './image-store.js';
import { unpackLayer } from './unpack-layer.js';

export interface LoadOptions {
  /** What the image is called from now on, besides what the archive calls it; for archives of one image. */
  readonly name?: string;
  readonly origin: ImageOrigin;
  readonly nowMs: number;
  readonly onProgress?: (progress: LoadProgress) => void;
  readonly signal?: AbortSignal;
}

export interface LoadedImage {
  readonly id: string;
  readonly names: readonly string[];
  readonly bytes: number;
}

/**
 * Unpacks the images of an archive into the store: OCI layouts and what `docker save` writes, packed with gzip or zstd or not.
 * Every digest that the archive tells of is checked. Content that is there already is not unpacked again.
 *
 * @throws ArchiveError when it is no archive of an image, is damaged, or would write outside of the image.
 */
export async function loadArchive(
  store: ImageStore,
  path: string,
  options: LoadOptions,
): Promise<readonly LoadedImage[]> {
  return await store.withTemporary(async (directory) => {
    const images = await openImageArchive(await plainArchive(path, directory, options.signal));
    const loaded: LoadedImage[] = [];
    for (const [index, image] of images.entries()) {
      const place = join(directory, String(index));
      mkdirSync(place);
      loaded.push(await loadImage(store, { ...image, names: namesFor(image, images.length, options) }, place, options));
    }
    return loaded;
  });
}

async function loadImage(
  store: ImageStore,
  image: ArchivedImage,
  directory: string,
  options: LoadOptions,
): Promise<LoadedImage> {
  const { id, names, layers } = image;
  const bytes = layers.reduce((sum, layer) => sum + layer.bytes, 0);
  const root = join(directory, 'root');
  if (!store.has(id)) await unpack(image, root, bytes, options);
  await store.keep({ ...image, bytes }, root, { origin: options.origin, loadedAtMs: options.nowMs });
  return { id, names, bytes };
}

async function unpack(
  { config, names, layers }: ArchivedImage,
  root: string,
  totalBytes: number,
  { onProgress, signal }: LoadOptions,
): Promise<void> {
  mkdirSync(root, { mode: 0o755 });
  let before = 0;
  for (const [index, layer] of layers.entries()) {
    const place = { name: names[0] ?? '', layer: index + 1, layers: layers.length, totalBytes };
    const told = (bytes: number): void => {
      signal?.throwIfAborted();
      onProgress?.({ ...place, bytes: before + bytes });
    };
    told(0);
    await unpackLayer(checked(layer, config.layers[index] ?? '', told), root);
    before += layer.bytes;
  }
  onProgress?.({ name: names[0] ?? '', layer: layers.length, layers: layers.length, bytes: totalBytes, totalBytes });
}

/** A layer's tar archive; fails at its end when it, packed or unpacked, is not what the image says it is. */
async function* checked(
  layer: ArchivedLayer,
  unpackedDigest: string,
  told: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  const packed = createHash('sha256');
  const unpacked = createHash('sha256');
  let bytes = 0;
  async function* counted(): AsyncGenerator<Uint8Array> {
    for await (const chunk of layer.content()) {
      packed.update(chunk);
      bytes += chunk.length;
      told(bytes);
      yield chunk;
    }
  }
  for await (const chunk of decompressed(counted())) {
    unpacked.update(chunk);
    yield chunk;
  }
  assertDigest(`sha256:${unpacked.digest('hex')}`, unpackedDigest);
  if (layer.digest !== undefined) assertDigest(`sha256:${packed.digest('hex')}`, layer.digest);
}

function assertDigest(found: string, wanted: string): void {
  if (found === wanted) return;
  throw new ArchiveError(
    `a layer of the image is damaged: it should be ${wanted}, and is ${found}; next: make the archive again`,
  );
}

/** An archive is read twice and by parts, so one that is packed is unpacked first. */
async function plainArchive(path: string, directory: string, signal: AbortSignal | undefined): Promise<string> {
  if (!isPacked(path)) return path;
  const plain = join(directory, 'archive.tar');
  await pipeline(
    decompressed(createReadStream(path)),
    createWriteStream(plain),
    signal === undefined ? {} : { signal },
  );
  return plain;
}

function isPacked(path: string): boolean {
  const start = Buffer.alloc(4);
  const file = openSync(path, 'r');
  try {
    readSync(file, start, 0, 4, 0);
  } finally {
    closeSync(file);
  }
  return start.readUInt16BE() === 0x1f8b || start.readUInt32BE() === 0x28b52ffd;
}

function namesFor({ names }: ArchivedImage, images: number, { name }: LoadOptions): readonly string[] {
  if (name !== undefined && images > 1) {
    throw new ArchiveError(
      `the archive has ${images} images, so one name is not enough; next: leave the name out, or make an archive of one image`,
    );
  }
  const all = name === undefined ? names : [name, ...names.filter((each) => each !== name)];
  if (all.length > 0) return all;
  throw new ArchiveError(
    'the archive does not say what its image is called; next: castellan image load FILE --name NAME:TAG',
  );
}
