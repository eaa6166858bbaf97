import { requireCommand } from './command.js';
import type { Mount } from './root-file-system.js';

/** Programs of the machine that containers are entered by. */
export type HelperProgram = 'setpriv' | 'env' | 'script';

/** How a helper is called within a container. */
export type Helpers = (name: HelperProgram) => readonly string[];

const helperNames: readonly HelperProgram[] = ['setpriv', 'env', 'script'];
/** Others than root have to enter it too, so it is made before anything is mounted there. */
export const helperDirectory = '/.castellan';
const loaderName = 'loader';

/** Where the machine's own programs are in the container. */
export const machineHelpers: Helpers = (name) => [`/usr/bin/${name}`];

/** An image need not have them, nor the C library that ours are made for: ours are beside it, with their own. */
export const imageHelpers: Helpers = (name) => [
  `${helperDirectory}/${loaderName}`,
  '--library-path',
  helperDirectory,
  `${helperDirectory}/${name}`,
];

let found: Promise<readonly Mount[]> | undefined;

/** What `imageHelpers` need in a container. Looked up once. */
export function helperMounts(): Promise<readonly Mount[]> {
  found ??= findHelpers().catch((error: unknown) => {
    found = undefined;
    throw error;
  });
  return found;
}

async function findHelpers(): Promise<readonly Mount[]> {
  const sources = new Map<string, string>();
  for (const name of helperNames) {
    const program = `/usr/bin/${name}`;
    sources.set(name, program);
    // Lines such as `libc.so.6 => /lib/libc.so.6 (0x7f…)`, and one of the loader, which has a path alone.
    for (const line of (await requireCommand('ldd', [program])).split('\n')) {
      const library = /^\s*(\S+) => (\/\S+)/.exec(line);
      const loader = /^\s*(\/\S+) \(0x/.exec(line);
      if (library?.[1] !== undefined && library[2] !== undefined) sources.set(library[1], library[2]);
      else if (loader?.[1] !== undefined) sources.set(loaderName, loader[1]);
    }
  }
  return [...sources].map(([name, source]) => ({ source, target: `${helperDirectory}/${name}`, isReadOnly: true }));
}
