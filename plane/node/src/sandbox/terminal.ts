import { setTimeout as sleep } from 'node:timers/promises';
import { runCommand } from './command.js';
import type { Helpers } from './image-programs.js';
import { childrenOf } from './process-identity.js';

export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

/** Within so many looks a program has its terminal, or it has ended. */
const looks = 100;
const lookAgainMs = 10;

/**
 * The command that runs another in a terminal of its own: script (util-linux) passes on what goes in and out by pipes.
 * Ends as the other does, with its exit code.
 */
export function terminalCommand(command: readonly string[], helpers: Helpers): readonly string[] {
  return [
    ...helpers('script'),
    '--quiet',
    '--return',
    '--command',
    `exec ${command.map(quoted).join(' ')}`,
    '/dev/null',
  ];
}

/** Sets the size of the terminal that `script` has made, which tells the program (SIGWINCH). `script` gives its pid. */
export async function resizeTerminal(script: () => number | undefined, size: TerminalSize): Promise<void> {
  for (let look = 0; look < looks; look += 1) {
    const [inner] = childrenOf(script() ?? 0);
    if (inner !== undefined) {
      // The terminal is in the container's own /dev; through the program's descriptor it is reached from anywhere.
      const dimensions = ['cols', String(size.columns), 'rows', String(size.rows)];
      const { exitCode } = await runCommand('stty', ['-F', `/proc/${inner}/fd/0`, ...dimensions]);
      if (exitCode === 0) return;
    }
    await sleep(lookAgainMs);
  }
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
