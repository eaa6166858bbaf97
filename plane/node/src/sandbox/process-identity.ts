import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/**
 * One process, safely: a pid alone may have been given to another process since. `startTime` is field 22 of
 * /proc/PID/stat (clock ticks since boot, see proc(5)); with `bootId` the pair is unique on a machine.
 */
export interface ProcessIdentity {
  readonly pid: number;
  readonly startTime: string;
}

interface ProcessStat extends ProcessIdentity {
  /** One letter, as in ps: Z is a process that ended and was not waited for. */
  readonly state: string;
}

export function identifyProcess(pid: number): ProcessIdentity | undefined {
  const stat = readStat(pid);
  return stat === undefined || stat.state === 'Z' ? undefined : { pid, startTime: stat.startTime };
}

export function isAlive(identity: ProcessIdentity): boolean {
  return identifyProcess(identity.pid)?.startTime === identity.startTime;
}

/** `false` when the process is no longer there. */
export function signalProcess(identity: ProcessIdentity, signal: NodeJS.Signals): boolean {
  return isAlive(identity) && killed(identity.pid, signal);
}

/** As `signalProcess`, to all of the group that the process leads. */
export function signalGroup(leader: ProcessIdentity, signal: NodeJS.Signals): boolean {
  return isAlive(leader) && killed(-leader.pid, signal);
}

/** Direct children, in the order in which they were made. */
export function childrenOf(pid: number): readonly number[] {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
    return text.split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

/** All that a process has started and that has not been given to another parent, those nearest first. */
export function descendantsOf(pid: number): readonly number[] {
  return childrenOf(pid).flatMap((child) => [child, ...descendantsOf(child)]);
}

/** The file that a process runs; `undefined` when it is gone or not ours to see. */
export function programOf(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/exe`);
  } catch {
    return undefined;
  }
}

/** The text of /proc/PID/stat, as a shell may have copied it, in parts. */
export function parseStat(text: string): ProcessStat | undefined {
  // The second field is the program's name in parentheses and may hold anything, further parentheses included.
  const end = text.lastIndexOf(')');
  const pid = Number.parseInt(text, 10);
  const fields = text.slice(end + 2).split(' ');
  const state = fields[0];
  const startTime = fields[19];
  if (end < 0 || Number.isNaN(pid) || state === undefined || startTime === undefined) return undefined;
  return { pid, state, startTime };
}

/** Every process whose network namespace has one of these inodes, zombies excepted. */
export function processesInNetworks(inodes: ReadonlySet<number>): readonly ProcessIdentity[] {
  const wanted = new Set([...inodes].map((inode) => `net:[${inode}]`));
  return allPids()
    .filter((pid) => wanted.has(networkOf(pid) ?? ''))
    .flatMap((pid) => identifyProcess(pid) ?? []);
}

export function isInNetwork(pid: number, inode: number): boolean {
  return networkOf(pid) === `net:[${inode}]`;
}

/** Every process with this word among its arguments. */
export function processesWithArgument(argument: string): readonly ProcessIdentity[] {
  return allPids()
    .filter((pid) => argumentsOf(pid).includes(argument))
    .flatMap((pid) => identifyProcess(pid) ?? []);
}

function killed(target: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(target, signal);
    return true;
  } catch {
    return false;
  }
}

let knownBootId: string | undefined;

/** Changes when the machine restarts: identities written down before then mean nothing any more. */
export function bootId(): string {
  knownBootId ??= readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  return knownBootId;
}

function allPids(): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

function networkOf(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/ns/net`);
  } catch {
    return undefined;
  }
}

function argumentsOf(pid: number): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  } catch {
    return [];
  }
}

function readStat(pid: number): ProcessStat | undefined {
  try {
    return parseStat(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return undefined;
  }
}
