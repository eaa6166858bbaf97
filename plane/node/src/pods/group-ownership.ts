import { chmod, lchown, lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { VolumeError } from './volume-error.js';

const setGroup = 0o2000;
const ofDirectory = 0o770;
const ofFile = 0o660;

/**
 * Gives all of a volume to a group, which may then read and write it, and what is made in it later belongs to the group too.
 * With `OnRootMismatch` nothing is done where the volume itself is as it should be. Source: a pod's fsGroup.
 */
export async function giveGroup(directory: string, group: number, policy: string | undefined): Promise<void> {
  if (policy === 'OnRootMismatch' && (await isGiven(directory, group))) return;
  try {
    await give(directory, group);
  } catch (error) {
    throw ownershipError(error) ?? error;
  }
}

/**
 * Where a file cannot be given to a user or a group: those of an ordinary user's plane have one of each. Without the path, which
 * may be another at each try: a message that stays the same is told once.
 */
export function ownershipError(error: unknown): VolumeError | undefined {
  if (!(error instanceof Error) || !('syscall' in error) || !/chown$/.test(String(error.syscall))) return undefined;
  const code = 'code' in error ? ` (${error.code})` : '';
  const message = `fsGroup cannot be set${code}; next: leave fsGroup out, or run the plane as root`;
  return new VolumeError(message, { cause: error });
}

async function isGiven(directory: string, group: number): Promise<boolean> {
  const { gid, mode } = await lstat(directory);
  const wanted = ofDirectory | setGroup;
  return gid === group && (mode & wanted) === wanted;
}

/** The root comes last: when it is as it should be, so is everything in it. */
async function give(path: string, group: number): Promise<void> {
  const stat = await lstat(path);
  if (stat.isDirectory()) for (const name of await readdir(path)) await give(join(path, name), group);
  await lchown(path, stat.uid, group);
  if (stat.isSymbolicLink()) return;
  await chmod(path, (stat.mode & 0o7777) | (stat.isDirectory() ? ofDirectory | setGroup : ofFile));
}
