import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { posix } from 'node:path';
import { isList, isRecord, type JsonRecord } from '@castellan/machinery';
import { ArchiveError } from './archive-error.js';
import { type ImageConfig, parseImageConfig } from './image-config.js';
import { readTar } from './tar-reader.js';

export interface ArchivedImage {
  /** Digest of its configuration: `sha256:…`. */
  readonly id: string;
  /** As the archive calls it; none where it does not say. */
  readonly names: readonly string[];
  readonly config: ImageConfig;
  readonly layers: readonly ArchivedLayer[];
}

export interface ArchivedLayer {
  /** Of what is packed: `sha256:…`; `undefined` where the archive does not say. */
  readonly digest: string | undefined;
  /** In the archive, packed. */
  readonly bytes: number;
  content(): AsyncIterable<Uint8Array>;
}

/** Manifests and configurations are some kilobytes. */
const longestDocument = 4 * 1024 * 1024;
/** An index may name indexes; one of one is all there is in the world. */
const deepestIndex = 4;

/** As images name this machine. */
const machineArchitecture: string =
  new Map([
    ['x64', 'amd64'],
    ['ia32', '386'],
  ]).get(process.arch) ?? process.arch;

/**
 * The images of an archive that is a file and not packed: an OCI layout, or what `docker save` writes.
 *
 * @throws ArchiveError when it is neither, is damaged, or has no image for this machine.
 */
export async function openImageArchive(path: string): Promise<readonly ArchivedImage[]> {
  const archive = await Archive.open(path);
  if (archive.has('manifest.json')) return await dockerImages(archive);
  if (archive.has('index.json')) return await layoutImages(archive);
  throw new ArchiveError(
    'the file is a tar archive, but none of an image: it has neither manifest.json nor index.json; next: make it with `docker save`, `podman save` or `skopeo copy docker://NAME docker-archive:FILE`',
  );
}

interface Part {
  readonly offset: number;
  readonly size: number;
}

/** Where each file of a tar archive is in it. */
class Archive {
  readonly #path: string;
  readonly #parts: ReadonlyMap<string, Part>;

  private constructor(path: string, parts: ReadonlyMap<string, Part>) {
    this.#path = path;
    this.#parts = parts;
  }

  static async open(path: string): Promise<Archive> {
    const parts = new Map<string, Part>();
    const links = new Map<string, string>();
    for await (const { path: name, type, offset, size, target } of readTar(createReadStream(path))) {
      const at = posix.normalize(name);
      if (type === 'file') parts.set(at, { offset, size });
      // Docker wrote the same layer of two images once, and a link to it.
      if (type === 'symbolic link') links.set(at, posix.join(posix.dirname(at), target));
      if (type === 'hard link') links.set(at, posix.normalize(target));
    }
    for (const [at, target] of links) {
      const part = parts.get(target);
      if (part !== undefined) parts.set(at, part);
    }
    return new Archive(path, parts);
  }

  has(name: string): boolean {
    return this.#parts.has(name);
  }

  part(name: string): Part {
    const part = this.#parts.get(posix.normalize(name));
    if (part === undefined) throw new ArchiveError(`the archive lacks ${name}, which it names itself: it is damaged`);
    return part;
  }

  stream(name: string): AsyncIterable<Uint8Array> {
    const { offset, size } = this.part(name);
    return size === 0 ? empty() : createReadStream(this.#path, { start: offset, end: offset + size - 1 });
  }

  /** With the digest of its text. */
  async document(name: string): Promise<{ readonly value: unknown; readonly digest: string }> {
    const { size } = this.part(name);
    if (size > longestDocument)
      throw new ArchiveError(`${name} of the archive has ${size} bytes: that is no document of an image`);
    const chunks: Uint8Array[] = [];
    for await (const chunk of this.stream(name)) chunks.push(chunk);
    const content = Buffer.concat(chunks);
    const digest = `sha256:${createHash('sha256').update(content).digest('hex')}`;
    try {
      return { value: JSON.parse(content.toString()), digest };
    } catch (cause) {
      throw new ArchiveError(`${name} of the archive is not JSON`, { cause });
    }
  }
}

/** manifest.json: a list of images with the names of their parts. */
async function dockerImages(archive: Archive): Promise<readonly ArchivedImage[]> {
  const { value } = await archive.document('manifest.json');
  if (!isList(value) || value.length === 0) throw new ArchiveError('manifest.json of the archive lists no images');
  const images: ArchivedImage[] = [];
  for (const manifest of value) {
    if (!isRecord(manifest)) throw new ArchiveError('manifest.json of the archive lists something that is no image');
    const { value: config, digest: id } = await archive.document(String(manifest.Config));
    const layers = textsOf(manifest.Layers).map((name) => layerOf(archive, name, undefined));
    images.push(complete({ id, names: textsOf(manifest.RepoTags), config: parseImageConfig(config), layers }));
  }
  return images;
}

/** index.json: descriptors, by which everything else is found. Source: OCI image specification, "Image Layout". */
async function layoutImages(archive: Archive): Promise<readonly ArchivedImage[]> {
  const { value } = await archive.document('index.json');
  const manifests = isRecord(value) ? manifestsOf(value) : [];
  const images: ArchivedImage[] = [];
  for (const descriptor of manifests) {
    const found = await layoutImage(archive, descriptor, 0);
    if (found !== undefined) images.push({ ...found, names: namesIn(descriptor) });
  }
  if (images.length > 0) return images;
  const offered = manifests.map(platformOf).filter((platform) => platform !== '');
  const what = offered.length === 0 ? 'no images' : `images for ${offered.join(', ')} only`;
  throw new ArchiveError(`the archive has ${what}; next: make it on or for linux/${machineArchitecture}`);
}

async function layoutImage(
  archive: Archive,
  descriptor: JsonRecord,
  depth: number,
): Promise<ArchivedImage | undefined> {
  if (!isForThisMachine(descriptor) || depth > deepestIndex) return undefined;
  const manifest = await blob(archive, descriptor);
  if (isList(manifest.manifests)) {
    for (const inner of manifestsOf(manifest)) {
      const found = await layoutImage(archive, inner, depth + 1);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (!isRecord(manifest.config)) return undefined;
  const config = parseImageConfig(await blob(archive, manifest.config));
  if (config.architecture !== '' && config.architecture !== machineArchitecture) return undefined;
  const layers = recordsOf(manifest.layers).map((layer) => layerOf(archive, blobName(layer), String(layer.digest)));
  return complete({ id: String(manifest.config.digest), names: [], config, layers });
}

/** What a descriptor names, when it is that. */
async function blob(archive: Archive, descriptor: JsonRecord): Promise<JsonRecord> {
  const name = blobName(descriptor);
  const { value, digest } = await archive.document(name);
  if (digest !== descriptor.digest) throw new ArchiveError(`${name} of the archive is damaged: it is ${digest}`);
  if (!isRecord(value)) throw new ArchiveError(`${name} of the archive is no object`);
  return value;
}

function blobName({ digest }: JsonRecord): string {
  const match = /^sha256:([0-9a-f]{64})$/.exec(String(digest));
  if (match === null) throw new ArchiveError(`"${digest}" in the archive is no digest that is known here (sha256)`);
  return `blobs/sha256/${match[1]}`;
}

function layerOf(archive: Archive, name: string, digest: string | undefined): ArchivedLayer {
  return { digest, bytes: archive.part(name).size, content: () => archive.stream(name) };
}

function complete(image: ArchivedImage): ArchivedImage {
  const { config, layers } = image;
  if (config.os !== 'linux' || (config.architecture !== '' && config.architecture !== machineArchitecture)) {
    throw new ArchiveError(
      `the image is for ${config.os}/${config.architecture}, and this machine is linux/${machineArchitecture}; next: get it for this one (\`--platform linux/${machineArchitecture}\`)`,
    );
  }
  if (config.layers.length !== layers.length) {
    throw new ArchiveError(
      `the image has ${layers.length} layers and tells of ${config.layers.length}: the archive is damaged`,
    );
  }
  return image;
}

/** Statements about an image lie beside it as images of no platform. */
function isForThisMachine({ platform, annotations }: JsonRecord): boolean {
  if (isRecord(annotations) && annotations['vnd.docker.reference.type'] !== undefined) return false;
  if (!isRecord(platform)) return true;
  return platform.os === 'linux' && platform.architecture === machineArchitecture;
}

function platformOf({ platform }: JsonRecord): string {
  return isRecord(platform) ? `${platform.os}/${platform.architecture}` : '';
}

/** A reference without a path is a tag alone: it does not say of what. */
function namesIn({ annotations }: JsonRecord): readonly string[] {
  if (!isRecord(annotations)) return [];
  const { 'io.containerd.image.name': full, 'org.opencontainers.image.ref.name': reference } = annotations;
  if (typeof full === 'string') return [full];
  return typeof reference === 'string' && /[/:]/.test(reference) ? [reference] : [];
}

function manifestsOf({ manifests }: JsonRecord): readonly JsonRecord[] {
  return recordsOf(manifests);
}

function recordsOf(value: unknown): readonly JsonRecord[] {
  return isList(value) ? value.filter(isRecord) : [];
}

function textsOf(value: unknown): readonly string[] {
  return isList(value) ? value.filter((each) => typeof each === 'string') : [];
}

async function* empty(): AsyncGenerator<Uint8Array> {}
