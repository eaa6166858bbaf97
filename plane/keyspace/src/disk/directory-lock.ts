import { link, readdir, readFile, truncate, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { KeyspaceLockedError } from '../errors.js';

/** So that openings in one process do not share a draft. */
let drafts = 0;

/**
 * Takes `directory` for this process, and gives the function that releases it. It holds among processes that see the
 * same pids: not between pid namespaces, nor machines that share a disk.
 *
 * The lock is the highest of the files `lock.1`, `lock.2`, …; it names a pid and its start time, or is empty when it was
 * released. Who finds it released, or its process gone, makes the next one: a file can be made only once, so one of
 * several wins. The highest is never removed or taken over itself; so nobody can remove a lock that was taken meanwhile.
 */
export async function lockDirectory(directory: string): Promise<() => Promise<void>> {
  const ours = `${process.pid} ${await startTimeOf(process.pid)}\n`;
  const draft = join(directory, `lock.draft.${process.pid}.${drafts++}`);
  for (;;) {
    const highest = Math.max(0, ...(await lockNumbers(directory)));
    const holder = (await readIfPresent(lockPath(directory, highest))) ?? '';
    const pid = Number.parseInt(holder, 10);
    if (await isAlive(pid, holder)) throw new KeyspaceLockedError(directory, pid);
    const path = lockPath(directory, highest + 1);
    // A link appears with all that the file holds, and only where there is none.
    await writeFile(draft, ours, { mode: 0o600 });
    const isMade = await isDone(link(draft, path), 'EEXIST');
    await unlink(draft);
    if (!isMade) continue;
    const numbers = await lockNumbers(directory);
    if (Math.max(...numbers) > highest + 1) {
      // We slept while others took and released it, and removed the file that ours has taken the place of.
      await unlink(path);
      continue;
    }
    for (const number of numbers) if (number <= highest) await isDone(unlink(lockPath(directory, number)), 'ENOENT');
    return () => truncate(path);
  }
}

async function lockNumbers(directory: string): Promise<readonly number[]> {
  const names = await readdir(directory);
  return names.flatMap((name) => (/^lock\.\d+$/.test(name) ? [Number(name.slice('lock.'.length))] : []));
}

function lockPath(directory: string, number: number): string {
  return join(directory, `lock.${number}`);
}

async function isAlive(pid: number, holder: string): Promise<boolean> {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  return holder === `${pid} ${await startTimeOf(pid)}\n`;
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
