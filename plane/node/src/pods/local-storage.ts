import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pod } from '@castellan/machinery';
import { storageLimitOf } from './container-resources.js';
import { sizeLimitOf } from './empty-directory.js';
import type { PodDirectory } from './pod-directory.js';
import type { PodFailure } from './pod-failure.js';

/** As often as kubelet looks. */
export const storageLookMs = 10_000;

/** Whether anything of the pod has a limit on the machine's disk. Looking at those that have none would cost for nothing. */
export function hasStorageLimits(pod: Pod): boolean {
  const { containers = [], volumes = [] } = pod.spec ?? {};
  return (
    containers.some((container) => storageLimitOf(container) !== undefined) ||
    volumes.some(({ emptyDir }) => emptyDir !== undefined && sizeLimitOf(emptyDir) !== undefined)
  );
}

/** Why a pod is to be evicted that has written more than it may, in kubelet's words; undefined while it has not. */
export async function storageFailure(pod: Pod, directory: PodDirectory): Promise<PodFailure | undefined> {
  const { containers = [], volumes = [] } = pod.spec ?? {};
  let ofVolumes = 0;
  for (const { name, emptyDir } of volumes) {
    if (emptyDir === undefined) continue;
    const bytes = await diskUsage(join(directory.volumes, name));
    const limit = sizeLimitOf(emptyDir);
    if (limit !== undefined && bytes > limit) {
      return evicted(`Usage of EmptyDir volume "${name}" exceeds the limit "${emptyDir.sizeLimit}". `);
    }
    if (emptyDir.medium !== 'Memory') ofVolumes += bytes;
  }
  const limits = containers.map(storageLimitOf);
  let ofContainers = 0;
  for (const [index, { name, resources }] of containers.entries()) {
    const limit = limits[index];
    const bytes = await writtenBy(directory, name);
    ofContainers += bytes;
    if (limit !== undefined && bytes > limit) {
      const text = resources?.limits?.['ephemeral-storage'];
      return evicted(`Container ${name} exceeded its local ephemeral storage limit "${text}". `);
    }
  }
  const whole = limits.reduce(
    (sum: number | undefined, limit) => (sum === undefined || limit === undefined ? undefined : sum + limit),
    0,
  );
  if (whole === undefined || ofContainers + ofVolumes <= whole) return undefined;
  return evicted(`Pod ephemeral local storage usage exceeds the total limit of containers ${whole}. `);
}

function evicted(message: string): PodFailure {
  return { reason: 'Evicted', message };
}

/** Its own layer and its log, of the newest start. */
async function writtenBy(directory: PodDirectory, container: string): Promise<number> {
  const number = directory.runNumbers(container).at(-1);
  return number === undefined ? 0 : await diskUsage(directory.runDirectory(container, number));
}

/** In bytes of the disk, not of the files: a file with holes takes less. What goes meanwhile counts nothing. */
async function diskUsage(path: string): Promise<number> {
  const stat = await lstat(path).catch(() => undefined);
  if (stat === undefined) return 0;
  const own = stat.blocks * 512;
  if (!stat.isDirectory()) return own;
  let total = own;
  for (const name of await readdir(path).catch(() => [])) total += await diskUsage(join(path, name));
  return total;
}
