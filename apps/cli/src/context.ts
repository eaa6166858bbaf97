import type { World } from '@castellan/world';
import type { Reporter } from './output/reporter.js';

/** What a command gets. `main.ts` makes it: nothing else reads arguments, environment variables or signals. */
export interface Context {
  readonly world: World;
  readonly reporter: Reporter;
  /** Absolute; the plane that the command is about keeps everything there. */
  readonly dataDirectory: string;
  /** False when it is the default, because neither `--data-dir` nor `CASTELLAN_HOME` was given. */
  readonly isDataDirectoryChosen: boolean;
  /** Absolute; the manifests that come with the program. */
  readonly examplesDirectory: string;
  /** Aborted by the first Ctrl-C or SIGTERM. */
  readonly stopSignal: AbortSignal;
  /** How this program is started again, for `up --detach`. */
  readonly self: readonly [command: string, ...args: string[]];
  /** The folders that programs are looked for in, as PATH has them. */
  readonly searchPath: string;
  resolvePath(path: string): string;
  readStandardInput(): Promise<string>;
}

/** Option values by their long name in camel case, as the command table declares them. */
export type Options = Readonly<Record<string, unknown>>;

export type Run = (context: Context, options: Options) => Promise<void>;
