import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { requireCommand, runCommand } from './command.js';

/** Mounts a file system that lives in memory. Without a limit it may take half of the machine's, as the kernel has it. */
export async function mountMemory(path: string, limitBytes: number | undefined): Promise<void> {
  const size = limitBytes === undefined ? [] : [`size=${Math.ceil(limitBytes)}`];
  await requireCommand('mount', [
    '-t',
    'tmpfs',
    '-o',
    ['mode=0777', 'nosuid', 'nodev', ...size].join(),
    'castellan',
    path,
  ]);
}

export function isMountPoint(path: string): boolean {
  return mountPoints().includes(realpathSync(path));
}

/** Takes away what is mounted at `directory` and below it; what is in use goes with its last user. */
export async function unmountBelow(directory: string): Promise<void> {
  if (!existsSync(directory)) return;
  const root = realpathSync(directory);
  const below = mountPoints().filter((path) => path === root || path.startsWith(`${root}/`));
  for (const path of below.reverse()) await runCommand('umount', ['--lazy', path]);
}

function mountPoints(): readonly string[] {
  return readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .flatMap((line) => {
      const path = line.split(' ')[1];
      // Blanks and the like are written as octal numbers.
      return path === undefined
        ? []
        : path.replace(/\\(\d{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8)));
    });
}
