import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import type { ConfigMap, Container, Pod, Secret, Volume } from '@castellan/machinery';
import { giveDirectory, type Mount } from '../sandbox/root-file-system.js';
import { bytesOf, type EnvironmentSources, fieldValue } from './environment.js';

export type VolumeSources = Pick<EnvironmentSources, 'pod' | 'nodeName' | 'hostIp' | 'podIp' | 'configMap' | 'secret'>;

/** A volume cannot be made yet, or never. Becomes the event FailedMount; the pod waits in ContainerCreating. */
export class VolumeError extends Error {
  override readonly name = 'VolumeError';
}

/** Makes a pod's volumes below `directory`; those that are there are kept with their content. */
export async function ensureVolumes(directory: string, sources: VolumeSources): Promise<void> {
  mkdirSync(directory, { recursive: true });
  for (const volume of sources.pod.spec?.volumes ?? []) {
    const path = join(directory, volume.name);
    if (volume.emptyDir !== undefined) ensureEmptyDirectory(path, sources.pod);
    else if (volume.hostPath !== undefined) ensureHostPath(volume.hostPath);
    else writeFiles(path, await projectedFiles(volume, sources));
  }
}

/** Where a container sees its volumes. Every volume must have been made. */
export function volumeMounts(directory: string, pod: Pod, container: Container): readonly Mount[] {
  return (container.volumeMounts ?? []).map((mount) => {
    const volume = pod.spec?.volumes?.find(({ name }) => name === mount.name);
    if (volume === undefined) throw new VolumeError(`volumeMount "${mount.name}" names no volume of the pod`);
    const base = volume.hostPath?.path ?? join(directory, volume.name);
    const source = mount.subPath === undefined ? base : subPath(base, mount.subPath);
    const isReadOnly = mount.readOnly === true || isProjected(volume);
    return { source, target: normalize(mount.mountPath), isReadOnly };
  });
}

interface ProjectedFile {
  readonly path: string;
  readonly content: Buffer;
  readonly mode: number;
}

interface Item {
  readonly key: string;
  readonly path: string;
  readonly mode?: number;
}

const defaultFileMode = 0o644;

function ensureEmptyDirectory(path: string, pod: Pod): void {
  if (existsSync(path)) return;
  mkdirSync(path);
  chmodSync(path, 0o777);
  const group = pod.spec?.securityContext?.fsGroup;
  if (group !== undefined) giveDirectory(path, { user: 0, group });
}

function ensureHostPath({ path, type = '' }: NonNullable<Volume['hostPath']>): void {
  if (type === 'DirectoryOrCreate') mkdirSync(path, { recursive: true });
  if (type === 'FileOrCreate' && !existsSync(path)) writeFileSync(path, '');
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) throw new VolumeError(`hostPath "${path}" does not exist on this machine`);
  if (type.startsWith('Directory') && !stat.isDirectory())
    throw new VolumeError(`hostPath "${path}" is not a directory`);
  if (type.startsWith('File') && !stat.isFile()) throw new VolumeError(`hostPath "${path}" is not a file`);
}

/** Volumes whose files are written by us are read-only in containers, as kubelet's are. */
function isProjected(volume: Volume): boolean {
  return volume.emptyDir === undefined && volume.hostPath === undefined;
}

/**
 * All files change at once: they live in a directory of their own, `..data` is a link to it, and each file is a link
 * through `..data`. A change makes a new directory and renames the link over the old one.
 */
function writeFiles(path: string, files: readonly ProjectedFile[]): void {
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
  const old = existsSync(link) ? statSync(link).ino : undefined;
  symlinkSync(version, `${link}.new`);
  renameSync(`${link}.new`, link);
  const names = new Set(files.map((file) => file.path.split('/')[0] ?? ''));
  for (const name of names) {
    rmSync(join(path, name), { force: true, recursive: true });
    symlinkSync(join('..data', name), join(path, name));
  }
  if (old !== undefined) removeOldVersions(path, version);
}

async function projectedFiles(volume: Volume, sources: VolumeSources): Promise<readonly ProjectedFile[]> {
  if (volume.projected !== undefined) {
    const mode = volume.projected.defaultMode ?? defaultFileMode;
    const parts = await Promise.all(
      (volume.projected.sources ?? []).map(async (source) => {
        if (source.configMap !== undefined) return await configMapFiles(source.configMap, mode, sources);
        if (source.secret !== undefined) return await secretFiles(source.secret, mode, sources);
        if (source.downwardAPI !== undefined) return downwardFiles(source.downwardAPI.items ?? [], mode, sources);
        throw new VolumeError(`volume "${volume.name}" projects what this node has no support for yet`);
      }),
    );
    return parts.flat();
  }
  if (volume.configMap !== undefined) {
    return await configMapFiles(volume.configMap, volume.configMap.defaultMode ?? defaultFileMode, sources);
  }
  if (volume.secret !== undefined) {
    const { secretName, ...rest } = volume.secret;
    const named = { ...rest, ...(secretName === undefined ? {} : { name: secretName }) };
    return await secretFiles(named, volume.secret.defaultMode ?? defaultFileMode, sources);
  }
  if (volume.downwardAPI !== undefined) {
    return downwardFiles(volume.downwardAPI.items ?? [], volume.downwardAPI.defaultMode ?? defaultFileMode, sources);
  }
  const kind = Object.keys(volume).find((key) => key !== 'name') ?? 'none';
  throw new VolumeError(
    `volume "${volume.name}" is of kind ${kind}, which this node does not offer; next: use emptyDir, configMap, secret, downwardAPI, projected or hostPath`,
  );
}

interface NamedSource {
  readonly name?: string;
  readonly items?: readonly Item[];
  readonly optional?: boolean;
}

async function configMapFiles(
  source: NamedSource,
  mode: number,
  sources: VolumeSources,
): Promise<readonly ProjectedFile[]> {
  return namedFiles(await sources.configMap(source.name ?? ''), 'configmap', { source, mode });
}

async function secretFiles(
  source: NamedSource,
  mode: number,
  sources: VolumeSources,
): Promise<readonly ProjectedFile[]> {
  return namedFiles(await sources.secret(source.name ?? ''), 'secret', { source, mode });
}

function namedFiles(
  object: ConfigMap | Secret | undefined,
  kind: string,
  { source, mode }: { readonly source: NamedSource; readonly mode: number },
): readonly ProjectedFile[] {
  if (object === undefined) {
    if (source.optional === true) return [];
    throw new VolumeError(`${kind} "${source.name}" not found`);
  }
  const contents = bytesOf(object);
  const items: readonly Item[] = source.items ?? Object.keys(contents).map((key) => ({ key, path: key }));
  return items.flatMap((item) => {
    const content = contents[item.key];
    if (content !== undefined) return [{ path: item.path, content, mode: item.mode ?? mode }];
    if (source.optional === true) return [];
    throw new VolumeError(`${kind} "${source.name}" has no key "${item.key}"`);
  });
}

function downwardFiles(
  items: readonly {
    readonly path: string;
    readonly mode?: number;
    readonly fieldRef?: { readonly fieldPath: string };
  }[],
  mode: number,
  sources: VolumeSources,
): readonly ProjectedFile[] {
  return items.map((item) => ({
    path: item.path,
    content: Buffer.from(item.fieldRef === undefined ? '' : fieldValue(item.fieldRef.fieldPath, sources)),
    mode: item.mode ?? mode,
  }));
}

function subPath(base: string, path: string): string {
  const source = join(base, path);
  if (!source.startsWith(`${base}/`)) throw new VolumeError(`subPath "${path}" leaves its volume`);
  if (!existsSync(source)) mkdirSync(source, { recursive: true });
  return source;
}

function removeOldVersions(path: string, current: string): void {
  for (const name of readdirVersions(path))
    if (name !== current) rmSync(join(path, name), { recursive: true, force: true });
}

function readdirVersions(path: string): readonly string[] {
  return readdirSync(path).filter((name) => /^\.\.\d+$/.test(name));
}
