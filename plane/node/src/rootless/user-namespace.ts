import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { identifyProcess, isAlive, type ProcessIdentity, signalProcess } from '../sandbox/process-identity.js';
import { readRecord, writeRecord } from '../sandbox/record-file.js';

/**
 * A user namespace in which an ordinary user is root, with a network and mounts of its own. It lasts as long as a process
 * is in it; one that only sleeps keeps it, so that pods and the next plane find the same one.
 */
export interface UserNamespace {
  readonly keeper: ProcessIdentity;
}

/** /run becomes the namespace's own, for `ip netns` writes there. */
const keep =
  'mount -t tmpfs castellan /run && mkdir /run/netns && ip link set lo up && echo ready && exec sleep infinity';
const startDeadlineMs = 20_000;
const endDeadlineMs = 20_000;
const lookAgainMs = 10;

/** Finds the namespace of a data directory, or makes it. Fails when the machine does not let users make any. */
export async function ensureUserNamespace(dataDirectory: string): Promise<UserNamespace> {
  const known = findUserNamespace(dataDirectory);
  if (known !== undefined) return known;
  mkdirSync(dataDirectory, { recursive: true });
  const flags = ['--user', '--map-root-user', '--net', '--mount', '--propagation', 'private'];
  const child = spawn('unshare', [...flags, '--', '/bin/sh', '-c', keep], {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    cwd: '/',
  });
  const said = await new Promise<string>((resolve) => {
    const words: string[] = [];
    const note = (chunk: Buffer) => {
      words.push(chunk.toString('utf8'));
      if (words.join('').includes('ready')) resolve('ready');
    };
    child.stdout.on('data', note);
    child.stderr.on('data', note);
    child.once('error', (error) => resolve(error.message));
    child.once('exit', () => resolve(words.join('').trim()));
    setTimeout(() => resolve('no answer'), startDeadlineMs).unref();
  });
  child.stdout.destroy();
  child.stderr.destroy();
  child.unref();
  const keeper = child.pid === undefined ? undefined : identifyProcess(child.pid);
  if (said !== 'ready' || keeper === undefined) {
    child.kill('SIGKILL');
    throw new Error(
      `this user cannot make a user namespace: ${said}; next: run as root, or allow it (sysctl kernel.unprivileged_userns_clone=1), or start the plane with --no-node`,
    );
  }
  writeRecord(recordPath(dataDirectory), keeper);
  return { keeper };
}

function findUserNamespace(dataDirectory: string): UserNamespace | undefined {
  const record = readRecord(recordPath(dataDirectory));
  if (typeof record !== 'object' || record === null || !('pid' in record) || !('startTime' in record)) return undefined;
  const keeper = { pid: Number(record.pid), startTime: String(record.startTime) };
  return isAlive(keeper) ? { keeper } : undefined;
}

/** The command line that runs `command` in the namespace, in the directory where the caller is. */
export function enterArguments(namespace: UserNamespace, command: readonly string[]): readonly string[] {
  const target = ['--target', String(namespace.keeper.pid)];
  const spaces = ['--user', '--net', '--mount', '--preserve-credentials'];
  return [...target, ...spaces, '--', '/usr/bin/env', `--chdir=${process.cwd()}`, ...command];
}

/** Ends every process in the namespace; with the last one the kernel removes all that was made in it. */
export async function removeUserNamespace(dataDirectory: string): Promise<void> {
  const namespace = findUserNamespace(dataDirectory);
  if (namespace === undefined) return;
  const inode = userNamespaceOf(namespace.keeper.pid);
  // Whatever the record says, the namespace of the one who asks is not to be emptied.
  if (inode === userNamespaceOf(process.pid)) return;
  for (let waitedMs = 0; waitedMs < endDeadlineMs; waitedMs += lookAgainMs) {
    const left = processesIn(inode);
    if (left.length === 0) return;
    for (const process of left) signalProcess(process, 'SIGKILL');
    await sleep(lookAgainMs);
  }
  throw new Error(
    `processes in the user namespace of ${dataDirectory} are still there ${endDeadlineMs} ms after SIGKILL`,
  );
}

function processesIn(namespace: string | undefined): readonly ProcessIdentity[] {
  if (namespace === undefined) return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && userNamespaceOf(Number(name)) === namespace)
    .flatMap((name) => identifyProcess(Number(name)) ?? []);
}

function userNamespaceOf(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/ns/user`);
  } catch {
    return undefined;
  }
}

function recordPath(dataDirectory: string): string {
  return join(dataDirectory, 'user-namespace.json');
}
