import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

/** One member of a tar archive that a test makes. */
export interface Member {
  readonly path: string;
  readonly content?: string | Buffer;
  /** `0` a file, `1` a hard link, `2` a symbolic link, `5` a directory; a file when absent. */
  readonly flag?: string;
  readonly target?: string;
  readonly mode?: number;
}

export const directory = (path: string, mode = 0o755): Member => ({ path, flag: '5', mode });
export const symbolicLink = (path: string, target: string): Member => ({ path, flag: '2', target });
export const hardLink = (path: string, target: string): Member => ({ path, flag: '1', target });

export function tar(members: readonly Member[]): Buffer {
  const blocks = members.flatMap(({ path, content = '', flag = '0', target = '', mode = 0o644 }) => {
    const data = Buffer.from(content);
    const header = Buffer.alloc(512);
    header.write(path, 0, 100);
    header.write(`${mode.toString(8).padStart(7, '0')}\0${'0'.repeat(7)}\0${'0'.repeat(7)}\0`, 100);
    header.write(`${data.length.toString(8).padStart(11, '0')}\0${'0'.repeat(11)}\0        `, 124);
    header.write(flag, 156);
    header.write(target, 157, 100);
    header.write('ustar\0' + '00', 257);
    const sum = header.reduce((total, byte) => total + byte, 0);
    header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
    return [header, data, Buffer.alloc((512 - (data.length % 512)) % 512)];
  });
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}

export const digestOf = (data: Buffer | string): string => `sha256:${createHash('sha256').update(data).digest('hex')}`;

export interface ImageParts {
  readonly layers: readonly Buffer[];
  readonly config?: Readonly<Record<string, unknown>>;
  readonly architecture?: string;
}

const machine = process.arch === 'x64' ? 'amd64' : process.arch;

export function configOf({ layers, config = {}, architecture = machine }: ImageParts): string {
  return JSON.stringify({
    os: 'linux',
    architecture,
    config,
    rootfs: { type: 'layers', diff_ids: layers.map(digestOf) },
  });
}

/** As `docker save` writes it. */
export function dockerArchive(path: string, parts: ImageParts, names: readonly string[]): void {
  const layers = parts.layers.map((content, index) => ({ path: `${index}/layer.tar`, content }));
  const manifest = [{ Config: 'config.json', RepoTags: names, Layers: layers.map((layer) => layer.path) }];
  const members = [
    ...layers,
    { path: 'config.json', content: configOf(parts) },
    { path: 'manifest.json', content: JSON.stringify(manifest) },
  ];
  writeFileSync(path, tar(members));
}

/** An OCI layout with layers packed as given, an index within the index, and a statement about the image beside it. */
export function layoutArchive(
  path: string,
  parts: ImageParts,
  { name, pack = gzipSync }: { readonly name: string; readonly pack?: (layer: Buffer) => Buffer },
): void {
  const blobs: Member[] = [];
  const blob = (content: Buffer | string) => {
    const digest = digestOf(content);
    blobs.push({ path: `blobs/sha256/${digest.slice('sha256:'.length)}`, content });
    return { digest, size: Buffer.byteLength(content) };
  };
  const config = blob(configOf(parts));
  const layers = parts.layers.map((layer) => blob(pack(layer)));
  const manifest = blob(JSON.stringify({ schemaVersion: 2, config, layers }));
  const other = blob(JSON.stringify({ schemaVersion: 2, config, layers: [] }));
  const index = blob(
    JSON.stringify({
      schemaVersion: 2,
      manifests: [
        { ...other, platform: { os: 'unknown', architecture: 'unknown' } },
        { ...manifest, platform: { os: 'linux', architecture: parts.architecture ?? machine } },
      ],
    }),
  );
  const annotations = { 'io.containerd.image.name': name };
  const top = JSON.stringify({ schemaVersion: 2, manifests: [{ ...index, annotations }] });
  writeFileSync(path, tar([{ path: 'oci-layout', content: '{}' }, { path: 'index.json', content: top }, ...blobs]));
}
