import { chmodSync, existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join, normalize } from 'node:path';
import type { Container, Pod, Volume } from '@castellan/machinery';
import { giveDirectory, type Mount } from '../sandbox/root-file-system.js';
import { claimDirectory, linkClaim } from './claim-volumes.js';
import type { PodHost } from './pod-host.js';
import { projectedFiles, type VolumeSources } from './projected-files.js';
import { subPathOf } from './sub-path.js';
import { VolumeError } from './volume-error.js';
import { writeFiles } from './volume-files.js';

/** What a volume lacks is mostly made in the same moment as the pod. */
const firstRetryMs = 50;
const lastRetryMs = 1_000;
/** A token that could not be replaced holds for a while yet. */
const renewalRetryMs = 30_000;

/** The volumes of one pod on this machine. */
export class PodVolumes {
  readonly #host: Pick<PodHost, 'world' | 'log'>;
  readonly #directory: string;
  #areMade = false;
  #retryMs = firstRetryMs;
  #renewAtMs: number | undefined;

  constructor(host: Pick<PodHost, 'world' | 'log'>, directory: string) {
    this.#host = host;
    this.#directory = directory;
  }

  /** Makes those that are not there. Throws a VolumeError when one cannot be made, to be tried again later. */
  async ensure(sources: VolumeSources): Promise<void> {
    if (this.#areMade) return;
    this.#renewAtMs = await makeVolumes(this.#directory, sources);
    this.#areMade = true;
  }

  /** How long to wait after a failure: longer each time. */
  nextRetryMs(): number {
    const waitMs = this.#retryMs;
    this.#retryMs = Math.min(waitMs * 2, lastRetryMs);
    return waitMs;
  }

  /**
   * Replaces tokens while the old ones hold; when that fails the pod goes on with what it has. Returns when to ask
   * again, in milliseconds since the epoch: never, for a pod without tokens.
   */
  async renew(sources: VolumeSources): Promise<number | undefined> {
    const { clock } = this.#host.world;
    if (this.#renewAtMs === undefined || clock.now() < this.#renewAtMs) return this.#renewAtMs;
    try {
      this.#renewAtMs = await makeVolumes(this.#directory, sources);
    } catch (error) {
      const { namespace, name } = sources.pod.metadata;
      this.#host.log.warn('volumes not renewed', { pod: `${namespace}/${name}`, error: String(error) });
      this.#renewAtMs = clock.now() + renewalRetryMs;
    }
    return this.#renewAtMs;
  }
}

/** What is there is kept with its content, but for files that come from the API. Returns when those are to be renewed. */
async function makeVolumes(directory: string, sources: VolumeSources): Promise<number | undefined> {
  // Nobody else on the machine may read a pod's secrets; containers see their volumes by mounts, not by this path.
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const renewals: number[] = [];
  const volumes = sources.pod.spec?.volumes ?? [];
  await Promise.all(
    volumes.map(async (volume) => {
      const path = join(directory, volume.name);
      if (volume.emptyDir !== undefined) ensureEmptyDirectory(path, sources.pod);
      else if (volume.hostPath !== undefined) ensureHostPath(volume.hostPath);
      else if (isClaim(volume)) await linkClaim(path, volume, sources);
      else {
        const { files, renewAtMs } = await projectedFiles(volume, sources);
        writeFiles(path, files);
        if (renewAtMs !== undefined) renewals.push(renewAtMs);
      }
    }),
  );
  return renewals.length === 0 ? undefined : Math.min(...renewals);
}

/** Where a container sees its volumes. Every volume must have been made. */
export function volumeMounts(directory: string, pod: Pod, container: Container): readonly Mount[] {
  return (container.volumeMounts ?? []).map((mount) => {
    const volume = pod.spec?.volumes?.find(({ name }) => name === mount.name);
    if (volume === undefined) throw new VolumeError(`volumeMount "${mount.name}" names no volume of the pod`);
    const own = join(directory, volume.name);
    const base = volume.hostPath?.path ?? (isClaim(volume) ? claimDirectory(own) : own);
    const source = mount.subPath === undefined ? base : subPathOf(base, mount.subPath);
    const isReadOnly =
      mount.readOnly === true || isProjected(volume) || volume.persistentVolumeClaim?.readOnly === true;
    return { source, target: normalize(mount.mountPath), isReadOnly };
  });
}

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
  return volume.emptyDir === undefined && volume.hostPath === undefined && !isClaim(volume);
}

function isClaim(volume: Volume): boolean {
  return volume.persistentVolumeClaim !== undefined || volume.ephemeral !== undefined;
}
