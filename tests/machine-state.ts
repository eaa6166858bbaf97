import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';

/**
 * What a plane may leave on a machine, read from the kernel and not from our own records: tests compare it before and
 * after. Processes are those that name `directory` in their arguments or stand in a mount of it.
 */
export interface MachineState {
  readonly namespaces: readonly string[];
  readonly links: readonly string[];
  /** Of the packet filter. */
  readonly tables: readonly string[];
  readonly addresses: readonly string[];
  readonly mounts: readonly string[];
  readonly cgroups: readonly string[];
  readonly processes: readonly string[];
}

export function machineState(directory: string): MachineState {
  return {
    namespaces: lines('ip', ['netns', 'list']),
    links: lines('ip', ['-o', 'link', 'show']).map((line) => line.split(':')[1]?.trim().split('@')[0] ?? line),
    tables: existsSync('/usr/sbin/nft') && process.getuid?.() === 0 ? lines('nft', ['list', 'tables']) : [],
    addresses: lines('ip', ['-o', 'addr', 'show']).map((line) => line.split(/\s+/).slice(1, 4).join(' ')),
    mounts: readFileSync('/proc/self/mounts', 'utf8')
      .split('\n')
      .filter((line) => line.includes(directory) || line.includes('netns')),
    cgroups: cgroupsOfOurs(),
    processes: processesNaming(directory),
  };
}

/**
 * Asserts that nothing is there that was not there before. What carries another plane's name is not this test's: several
 * planes may run on one machine at once.
 */
export function assertNothingLeft(directory: string, before: MachineState, after: MachineState): void {
  const others = otherPlanes(directory);
  const left = Object.fromEntries(
    Object.entries(after).map(([what, list]: [string, readonly string[]]) => {
      const known: readonly string[] = Object.entries(before).find(([name]) => name === what)?.[1] ?? [];
      return [what, list.filter((item) => !known.includes(item) && !others.test(item))];
    }),
  );
  assert.deepEqual(left, {
    namespaces: [],
    links: [],
    tables: [],
    addresses: [],
    mounts: [],
    cgroups: [],
    processes: [],
  });
}

/**
 * A plane's links, namespaces and control groups are named `cas` and six digits that follow from its data directory; those
 * that `castellan doctor` tries the machine with, after its process.
 */
function otherPlanes(directory: string): RegExp {
  const ours = createHash('sha256').update(directory).digest('hex').slice(0, 6);
  return new RegExp(`\\bcas(?!${ours})[0-9a-f]{6}|\\bcasd\\d+|castellan-doctor`);
}

export function processesNaming(text: string): readonly string[] {
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry) && Number(entry) !== process.pid)
    .flatMap((pid) => {
      const commandLine = readQuietly(`/proc/${pid}/cmdline`).replaceAll('\0', ' ');
      const isOurs = commandLine.includes(text) || readQuietly(`/proc/${pid}/mountinfo`).includes(text);
      return isOurs ? [`${pid} ${commandLine}`] : [];
    });
}

/** Pid and arguments of each etcd of the plane in `directory`: it stands in a mount of it, wherever that is mounted. */
export function etcdProcessesOf(directory: string): readonly string[] {
  return processesNaming(basename(directory))
    .filter((line) => /^\d+ \S*etcd /.test(line))
    .toSorted();
}

/** Those of other programs come and go while we look. */
function cgroupsOfOurs(): readonly string[] {
  return lines('find', ['/sys/fs/cgroup', '-ignore_readdir_race', '-type', 'd', '-name', 'cas[0-9a-f]*']);
}

function lines(command: string, args: readonly string[]): readonly string[] {
  return execFileSync(command, args, { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line !== '');
}

/** Processes come and go while we read: what is gone reads as empty. */
function readQuietly(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
