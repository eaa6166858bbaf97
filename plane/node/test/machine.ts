import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { removeEverything } from '../src/agent/remove-everything.js';
import { runCommand } from '../src/sandbox/command.js';
import { bridgeName } from '../src/sandbox/plane-network.js';
import { leftNamespaces } from '../src/sandbox/pod-network.js';

/** Why tests with real processes cannot run here; `false` when they can. For the `skip` option of node:test. */
export function cannotRunPods(): string | false {
  if (process.getuid?.() !== 0) return 'needs root: makes network namespaces';
  for (const program of ['bwrap', 'nsenter', 'ip']) {
    const found = ['/usr/bin', '/usr/sbin', '/bin', '/sbin'].some((path) => existsSync(join(path, program)));
    if (!found) return `needs ${program}: apt-get install bubblewrap util-linux iproute2`;
  }
  return false;
}

/** As `cannotRunPods`, of tests of what the kernel does with services and policies. */
export function cannotFilterPods(): string | false {
  const hasFilter = existsSync('/usr/sbin/nft') && existsSync('/proc/sys/net/bridge/bridge-nf-call-iptables');
  if (hasFilter) return cannotRunPods();
  return 'needs nftables and br_netfilter: apt-get install nftables; modprobe br_netfilter';
}

/** Runs `body` with a data directory of its own, then removes everything and asserts that nothing is left. */
export async function withDataDirectory(body: (directory: string) => Promise<void>): Promise<void> {
  const { directory, claim } = await directoryOfItsOwnRanges();
  try {
    await body(directory);
  } finally {
    await removeEverything(directory, { volumes: true });
    const left = await leftovers(directory);
    rmSync(directory, { recursive: true, force: true });
    claim.close();
    assert.deepEqual(left, [], 'nothing of the plane is left on the machine');
  }
}

/**
 * A new directory whose ranges no other test has: several run at the same time, and where two begin at once, neither sees
 * the other's. The claim is a socket with a name of its service range, which the kernel takes back when this process ends.
 */
async function directoryOfItsOwnRanges(): Promise<{ readonly directory: string; readonly claim: Server }> {
  for (;;) {
    const directory = mkdtempSync(join(tmpdir(), 'castellan-node-'));
    const claim = createServer();
    const isOurs = await new Promise<boolean>((resolve) => {
      claim.once('error', () => resolve(false));
      claim.listen(`\0castellan-test-${rangesOf(directory).serviceCidr}`, () => resolve(true));
    });
    if (isOurs) return { directory, claim };
    rmdirSync(directory);
  }
}

/** Ranges for the plane in a directory, away from those that planes take by themselves. */
export function rangesOf(directory: string): { readonly podCidr: string; readonly serviceCidr: string } {
  const number = createHash('sha256').update(directory).digest().readUInt16BE(0);
  const prefix = `10.${200 + (number % 50)}`;
  const place = Math.floor(number / 50);
  return { podCidr: `${prefix}.${place % 128}.0/24`, serviceCidr: `${prefix}.${128 + 16 * (place % 8)}.0/20` };
}

/** Processes, namespaces, devices, addresses, routes, filter tables, mounts and control groups of a data directory. */
export async function leftovers(directory: string): Promise<readonly string[]> {
  const bridge = bridgeName(directory);
  const processes = readdirSync('/proc').filter((pid) => /^\d+$/.test(pid));
  const commandLines = await Promise.all(processes.map((pid) => text(`/proc/${pid}/cmdline`)));
  const lines = async (...command: readonly [string, ...string[]]) => {
    const [program, ...args] = command;
    const { stdout } = await runCommand(program, args);
    return stdout.split('\n').filter((line) => line.includes(bridge) || line.includes(directory));
  };
  const groups = (await text('/proc/mounts')).split('\n').flatMap((line) => {
    const [, path = '', type = ''] = line.split(' ');
    return type.startsWith('cgroup') && existsSync(join(path, bridge)) ? [join(path, bridge)] : [];
  });
  const mounts = (await text('/proc/mounts')).split('\n');
  return [
    ...commandLines
      .filter((line) => line.includes(`${directory}/`))
      .map((line) => `process ${line.replaceAll('\0', ' ')}`),
    ...(await leftNamespaces(directory)).map(({ namespace }) => `namespace ${namespace}`),
    ...(await lines('ip', '-o', 'address')),
    ...(await lines('ip', '-o', 'link')),
    ...(await lines('ip', 'route', 'show', 'table', 'all')),
    ...(existsSync('/usr/sbin/nft') ? await lines('nft', 'list', 'tables') : []),
    ...mounts.filter((line) => line.includes(bridge) || line.includes(directory)).map((line) => `mount ${line}`),
    ...groups.map((path) => `cgroup ${path}`),
  ];
}

/** Looks every 10 ms until `condition` gives something; fails after `deadlineMs` saying what it waited for. */
export async function until<T>(
  what: string,
  condition: () => T | undefined | false | Promise<T | undefined | false>,
  deadlineMs = 60_000,
): Promise<T> {
  const end = performance.now() + deadlineMs;
  for (;;) {
    const value = await condition();
    if (value !== undefined && value !== false) return value;
    if (performance.now() > end) throw new Error(`waited ${deadlineMs} ms for: ${what}`);
    await sleep(10);
  }
}

async function text(path: string): Promise<string> {
  const { readFile } = await import('node:fs/promises');
  return await readFile(path, 'utf8').catch(() => '');
}
