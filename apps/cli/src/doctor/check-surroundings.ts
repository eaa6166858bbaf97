import { accessSync, constants, existsSync, readFileSync, statfsSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname } from 'node:path';
import type { Finding } from './finding.js';

const leastFreeBytes = 1024 ** 3;

export interface Surroundings {
  readonly dataDirectory: string;
  readonly port: number;
  readonly isPlaneRunning: boolean;
  readonly isRoot: boolean;
}

/** What a plane needs besides what pods do: a user, a directory, a port. Listens on the port for a moment. */
export async function checkSurroundings(options: Surroundings): Promise<readonly Finding[]> {
  const found = [checkUser(options), checkDisk(options)];
  return options.isPlaneRunning ? found : [...found, await checkPort(options.port)];
}

function checkUser({ isRoot }: Surroundings): Finding {
  const subject = 'user';
  if (isRoot) return { severity: 'ok', subject, evidence: 'root' };
  if (readNumber('/proc/sys/user/max_user_namespaces') > 0) {
    return { severity: 'ok', subject, evidence: 'an ordinary user: the plane runs in a user namespace' };
  }
  const evidence = 'an ordinary user, who may not make user namespaces';
  return { severity: 'problem', subject, evidence, next: 'sysctl -w user.max_user_namespaces=10000, or run as root' };
}

function checkDisk({ dataDirectory }: Surroundings): Finding {
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
