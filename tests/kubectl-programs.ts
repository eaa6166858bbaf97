import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { run } from './plane-process.js';

/**
 * Every kubectl on PATH, and those beside the file that it leads to, where packages put `kubectl.1.28` and the like. Debian's
 * own (1.20) is below what we promise. By their minor versions.
 */
export async function kubectlPrograms(): Promise<ReadonlyMap<string, string>> {
  const onPath = (process.env.PATH ?? '').split(':');
  const plain = onPath.map((folder) => join(folder, 'kubectl')).find((path) => existsSync(path));
  const folders = plain === undefined ? onPath : [...onPath, dirname(realpathSync(plain))];
  const found = folders
    .filter((folder) => existsSync(folder))
    .flatMap((folder) =>
      readdirSync(folder)
        .filter((name) => /^kubectl(\.1\.\d+)?$/.test(name))
        .map((name) => `${folder}/${name}`),
    );
  const programs = new Map<string, string>();
  for (const program of found) {
    const version = /Client Version:.*?v?1\.(\d+)/.exec((await run(program, ['version', '--client'])).stdout)?.[1];
    if (version !== undefined && Number(version) >= 28) programs.set(version, program);
  }
  return programs;
}
