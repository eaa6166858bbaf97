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
  /** As a person in the working directory calls this program, for commands that they can copy. */
  readonly programName: string;
  /** How this program is started again, for `up --detach`. */
  readonly self: readonly [command: string, ...args: string[]];
  /** The command line, without the program. */
  readonly commandLine: readonly string[];
  /** Real root, or root in a user namespace. */
  readonly isRoot: boolean;
  /** True in the process that `runInUserNamespace` started. */
  readonly isInUserNamespace: boolean;
  resolvePath(path: string): string;
  readStandardInput(): Promise<string>;
}

/** An environment variable that tells the process inside a user namespace that it is there. */
export const insideVariable = 'CASTELLAN_IN_USER_NAMESPACE';

/** Option values by their long name in camel case, as the command table declares them. */
export type Options = Readonly<Record<string, unknown>>;

/** Gives the exit status where it is not 0 and has been reported already; a failure to report is thrown. */
export type Run = (context: Context, options: Options) => Promise<number | undefined>;
