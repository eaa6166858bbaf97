import { accessSync, constants, existsSync, readFileSync, statfsSync } from 'node:fs';
import { createServer } from 'node:net';
import { delimiter, dirname, join } from 'node:path';
import type { Finding } from './finding.js';

/** What pods are made with: program, Debian package, what it is for. */
const programs = [
  ['etcd', 'etcd-server', 'the members of etcd clusters'],
  ['etcdctl', 'etcd-client', "etcd members' probes"],
  ['bwrap', 'bubblewrap', "pods' isolation"],
  ['ip', 'iproute2', "pods' networks"],
  ['nft', 'nftables', "services' addresses"],
  ['busybox', 'busybox', 'init containers'],
  ['nsenter', 'util-linux', "entering pods' namespaces"],
  ['unshare', 'util-linux', 'pods of an ordinary user'],
] as const;

const leastFreeBytes = 1024 ** 3;

export interface MachineOptions {
  readonly dataDirectory: string;
  readonly port: number;
  readonly isPlaneRunning: boolean;
  readonly searchPath: string;
  readonly isRoot: boolean;
}

/** Whether this machine can run a plane with pods. Reads, and listens on the port for a moment. */
export async function checkMachine(options: MachineOptions): Promise<readonly Finding[]> {
  const found = [
    ...programs.map((program) => checkProgram(program, options.searchPath)),
    checkUser(options),
    checkDisk(options),
  ];
  return options.isPlaneRunning ? found : [...found, await checkPort(options.port)];
}

function checkProgram([program, debianPackage, purpose]: (typeof programs)[number], searchPath: string): Finding {
  const folders = [...searchPath.split(delimiter), '/usr/sbin', '/sbin'].filter((folder) => folder !== '');
  const path = folders.map((folder) => join(folder, program)).find((candidate) => existsSync(candidate));
  if (path !== undefined) return { severity: 'ok', subject: program, evidence: path };
  const next = `apt-get install -y --no-install-recommends ${debianPackage}`;
  return { severity: 'problem', subject: program, evidence: `not installed; needed for ${purpose}`, next };
}

function checkUser({ isRoot }: MachineOptions): Finding {
  const subject = 'user';
  if (isRoot) return { severity: 'ok', subject, evidence: 'root: pods get their own networks and cgroups' };
  const limit = readNumber('/proc/sys/user/max_user_namespaces');
  if (limit > 0) return { severity: 'ok', subject, evidence: 'an ordinary user, who may make user namespaces' };
  const evidence = 'an ordinary user, who may not make user namespaces';
  return { severity: 'problem', subject, evidence, next: 'sysctl -w user.max_user_namespaces=10000, or run as root' };
}

function checkDisk({ dataDirectory }: MachineOptions): Finding {
  const subject = 'data directory';
  const there = nearestExisting(dataDirectory);
  try {
    accessSync(there, constants.W_OK);
  } catch {
    const next = 'choose another with `--data-dir DIR`';
    return { severity: 'problem', subject, evidence: `${dataDirectory} cannot be written`, next };
  }
  const { bavail, bsize } = statfsSync(there);
  const free = bavail * bsize;
  const evidence = `${dataDirectory}, ${(free / 1024 ** 3).toFixed(1)} GiB free`;
  if (free >= leastFreeBytes) return { severity: 'ok', subject, evidence };
  return { severity: 'warning', subject, evidence, next: 'free some space: with none left, writes are refused' };
}

function checkPort(port: number): Promise<Finding> {
  const subject = `port ${port}`;
  return new Promise((resolve) => {
    const server = createServer();
    server.on('error', (error) => {
      const next = 'end the process that has it, or start with `castellan up --port N`';
      resolve({ severity: 'warning', subject, evidence: `in use (${error.message})`, next });
    });
    server.listen(port, '127.0.0.1', () => server.close(() => resolve({ severity: 'ok', subject, evidence: 'free' })));
  });
}

function nearestExisting(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestExisting(dirname(path));
}

function readNumber(path: string): number {
  try {
    return Number(readFileSync(path, 'utf8'));
  } catch {
    return 0; // This kernel has no such setting: user namespaces are not built in.
  }
}
