import { existsSync, realpathSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';

/**
 * Where a kubectl is: on PATH, or beside the file that `kubectl` on PATH leads to, where packages put `kubectl.1.28` and the
 * like. `undefined` when it is not on this machine.
 */
export function kubectlProgram(name: string): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter);
  const plain = folders.map((folder) => join(folder, 'kubectl')).find((path) => existsSync(path));
  const beside = plain === undefined ? [] : [dirname(realpathSync(plain))];
  return [...folders, ...beside].map((folder) => join(folder, name)).find((path) => existsSync(path));
}
