import { link, readFile, rename, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { KeyspaceLockedError } from '../errors.js';

/** A process that starts takes over the lock of a dead one; so many times another may be faster. */
const ATTEMPTS = 5;

/** So that openings in one process do not share a draft. */
let drafts = 0;

/**
 * Takes `directory` for this process by a file that names its pid and start time, and gives the function that releases
 * it. The lock of a process that is gone, or whose pid now belongs to another process, is taken over.
 * It holds among processes that see the same pids: not between pid namespaces, nor machines that share a disk.
 */
export async function lockDirectory(directory: string): Promise<() => Promise<void>> {
  const path = join(directory, 'lock');
  const ours = `${process.pid} ${await startTimeOf(process.pid)}\n`;
  const draft = join(directory, `lock.${process.pid}.${drafts++}.draft`);
  for (let attempt = 1; ; attempt++) {
    const holder = await readIfPresent(path);
    if (holder !== undefined) {
      const pid = Number.parseInt(holder, 10);
      if ((await isAlive(pid, holder)) || attempt === ATTEMPTS) throw new KeyspaceLockedError(directory, pid);
      await removeIfUnchanged(path, holder, `${draft}.stale`);
    }
    // A link appears whole or not at all, and only when there is none.
    await writeFile(draft, ours, { mode: 0o600 });
    const isTaken = await isDone(link(draft, path), 'EEXIST');
    await unlink(draft);
    if (isTaken) {
      return async () => {
        if ((await readIfPresent(path)) === ours) await unlink(path);
      };
    }
  }
}

async function isAlive(pid: number, holder: string): Promise<boolean> {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  return holder === `${pid} ${await startTimeOf(pid)}\n`;
}

/** Removes the lock only if it still is the one that was read: another process may have taken it over by now. */
async function removeIfUnchanged(path: string, holder: string, aside: string): Promise<void> {
  if (!(await isDone(rename(path, aside), 'ENOENT'))) return;
  if ((await readIfPresent(aside)) !== holder) await isDone(link(aside, path), 'EEXIST');
  await unlink(aside);
}

/** In clock ticks since boot, with the boot's identity; `gone` when there is no such process. */
async function startTimeOf(pid: number): Promise<string> {
  const stat = await readIfPresent(`/proc/${pid}/stat`);
  if (stat === undefined) return isSignalable(pid) ? 'unknown' : 'gone';
  // The name in parentheses may hold spaces and parentheses; the start time is the twentieth field after it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  // A zombie holds no file any more; only its parent has not asked for its exit code yet.
  if (fields[0] === 'Z' || fields[0] === 'X') return 'gone';
  const boot = await readIfPresent('/proc/sys/kernel/random/boot_id');
  return `${fields[19]} ${boot?.trim()}`;
}

/** Where there is no /proc, only the pid itself can be asked for. */
function isSignalable(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return hasCode(error, 'EPERM');
  }
}

async function readIfPresent(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT') || hasCode(error, 'ESRCH')) return undefined;
    throw error;
  }
}

/** False when it failed with `expectedCode`. */
async function isDone(operation: Promise<void>, expectedCode: string): Promise<boolean> {
  try {
    await operation;
    return true;
  } catch (error) {
    if (hasCode(error, expectedCode)) return false;
    throw error;
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
