import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../src/main.js', import.meta.url));
const deadlineMs = 120_000;

export interface Finished {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the compiled program to its end, as a person would. */
function castellan(args: readonly string[], input = ''): Promise<Finished> {
  return run([process.execPath, program, ...args], input);
}

/** As another user; only root may. */
export function castellanAs(user: number, args: readonly string[]): Promise<Finished> {
  const become = ['setpriv', `--reuid=${user}`, `--regid=${user}`, '--clear-groups', '--'];
  return run([...become, process.execPath, program, ...args], '');
}

function run([command = '', ...args]: readonly string[], input: string): Promise<Finished> {
  return new Promise((resolve) => {
    const child = execFile(command, args, { timeout: deadlineMs }, (_error, stdout, stderr) =>
      resolve({ code: child.exitCode ?? -1, stdout, stderr }),
    );
    child.stdin?.end(input);
  });
}

/** As `castellan`, and fails with what was printed unless it ends with `code`. */
export async function expectExit(code: number, args: readonly string[], input = ''): Promise<Finished> {
  const finished = await castellan(args, input);
  assert.equal(finished.code, code, `castellan ${args.join(' ')}\n${finished.stdout}${finished.stderr}`);
  return finished;
}

/** A data directory that is stopped and removed at the end. */
export async function withDataDirectory(use: (directory: string) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'castellan-cli-'));
  try {
    await use(directory);
  } finally {
    await castellan(['down', '--data-dir', directory]);
    await rm(directory, { recursive: true });
  }
}
