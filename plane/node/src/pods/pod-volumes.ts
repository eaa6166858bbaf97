import { mkdirSync } from 'node:fs';
import { join, normalize } from 'node:path';
import type { Container, Pod, Volume } from '@castellan/machinery';
import type { Mount } from '../sandbox/root-file-system.js';
import { claimDirectory, linkClaim } from './claim-volumes.js';
import { ensureEmptyDirectory } from './empty-directory.js';
import { ownershipError } from './group-ownership.js';
import { ensureHostPath } from './host-path.js';
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
  #isBegun = false;
  #areMade = false;
  #isStale = false;
  #retryMs = firstRetryMs;
  #renewAtMs: number | undefined;

  constructor(host: Pick<PodHost, 'world' | 'log'>, directory: string) {
    this.#host = host;
    this.#directory = directory;
  }

  /** Makes those that are not there. Throws a VolumeError when one cannot be made, to be tried again later. */
  async ensure(sources: VolumeSources): Promise<void> {
    if (this.#areMade) return;
    this.#isBegun = true;
    this.#renewAtMs = await makeVolumes(this.#directory, sources.pod.spec?.volumes ?? [], sources);
    this.#areMade = true;
  }

  /** How long to wait after a failure: longer each time. */
  nextRetryMs(): number {
    const waitMs = this.#retryMs;
    this.#retryMs = Math.min(waitMs * 2, lastRetryMs);
    return waitMs;
  }

  /** What the files come from has changed, or may have: the next `renew` looks. */
  expire(): void {
    this.#isStale = this.#isBegun;
  }

  /**
   * Replaces tokens while the old ones hold, and files whose source has changed; when that fails the pod goes on with
   * what it has. Returns when to ask again, in milliseconds since the epoch: never, for a pod without tokens.
   */
  async renew(sources: VolumeSources): Promise<number | undefined> {
    const { clock } = this.#host.world;
    const isDue = this.#renewAtMs !== undefined && clock.now() >= this.#renewAtMs;
    if (!this.#isStale && !isDue) return this.#renewAtMs;
    this.#isStale = false;
    try {
      const volumes = (sources.pod.spec?.volumes ?? []).filter(isProjected);
      this.#renewAtMs = await makeVolumes(this.#directory, volumes, sources);
    } catch (error) {
      const { namespace, name } = sources.pod.metadata;
      this.#host.log.warn('volumes not renewed', { pod: `${namespace}/${name}`, error: String(error) });
      this.#renewAtMs = clock.now() + renewalRetryMs;
    }
    return this.#renewAtMs;
  }
}

/** What is there is kept with its content, but for files that come from the API. Returns when those are to be renewed. */
async function makeVolumes(
  directory: string,
  volumes: readonly Volume[],
  sources: VolumeSources,
): Promise<number | undefined> {
  // Nobody else on the machine may read a pod's secrets; containers see their volumes by mounts, not by this path.
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const renewals: number[] = [];
  await Promise.all(
    volumes.map(async (volume) => {
      try {
        const renewAtMs = await makeVolume(join(directory, volume.name), volume, sources);
        if (renewAtMs !== undefined) renewals.push(renewAtMs);
      } catch (error) {
        const problem = error instanceof VolumeError ? error : ownershipError(error);
        if (problem === undefined) throw error;
        const message = `MountVolume.SetUp failed for volume "${volume.name}" : ${problem.message}`;
        throw new VolumeError(message, { cause: error });
      }
    }),
  );
  return renewals.length === 0 ? undefined : Math.min(...renewals);
}

async function makeVolume(path: string, volume: Volume, sources: VolumeSources): Promise<number | undefined> {
  if (volume.emptyDir !== undefined) await ensureEmptyDirectory(path, volume.emptyDir, sources.pod);
  else if (volume.hostPath !== undefined) ensureHostPath(volume.hostPath);
  else if (isClaim(volume)) await linkClaim(path, volume, sources);
  else {
    const { files, renewAtMs } = await projectedFiles(volume, sources);
    writeFiles(path, files, sources.pod.spec?.securityContext?.fsGroup);
    return renewAtMs;
  }
  return undefined;
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

/** Volumes whose files are written by us are read-only in containers, as kubelet's are. */
function isProjected(volume: Volume): boolean {
  return volume.emptyDir === undefined && volume.hostPath === undefined && !isClaim(volume);
}

function isClaim(volume: Volume): boolean {
  return volume.persistentVolumeClaim !== undefined || volume.ephemeral !== undefined;
}
