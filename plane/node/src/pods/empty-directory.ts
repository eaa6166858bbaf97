import { chmodSync, existsSync, mkdirSync } from 'node:fs';
import { type Pod, parseQuantity, quantityToNumber, type Volume } from '@castellan/machinery';
import { isMountPoint, mountMemory } from '../sandbox/mount-points.js';
import { giveDirectory } from '../sandbox/root-file-system.js';

type EmptyDirectory = NonNullable<Volume['emptyDir']>;

/** Makes an emptyDir, unless it is there: one of the medium Memory is gone after a restart of the machine, and made anew. */
export async function ensureEmptyDirectory(path: string, directory: EmptyDirectory, pod: Pod): Promise<void> {
  const isMemory = directory.medium === 'Memory';
  if (existsSync(path) && (!isMemory || isMountPoint(path))) return;
  mkdirSync(path, { recursive: true });
  if (isMemory) await mountMemory(path, sizeLimitOf(directory));
  chmodSync(path, 0o777);
  const group = pod.spec?.securityContext?.fsGroup;
  if (group !== undefined) giveDirectory(path, { user: 0, group });
}

/** In bytes. 0 is no limit. */
export function sizeLimitOf({ sizeLimit }: EmptyDirectory): number | undefined {
  const bytes = sizeLimit === undefined ? 0 : quantityToNumber(parseQuantity(sizeLimit));
  return bytes === 0 ? undefined : bytes;
}
