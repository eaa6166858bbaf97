import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { PassThrough, type Readable, type Writable } from 'node:stream';
import type { ContainerProcess } from './container-process.js';
import type { ContainerUser } from './container-user.js';
import { entryCommand } from './enter-container.js';
import { childrenOf } from './process-identity.js';
import { resizeTerminal, type TerminalSize, terminalCommand } from './terminal.js';

/** A command in a container whose streams somebody else is joined to. */
export interface ContainerExec {
  readonly command: readonly string[];
  readonly user?: ContainerUser;
  readonly cgroups: readonly string[];
  readonly stdin: boolean;
  readonly tty: boolean;
}

export interface StreamedProcess {
  readonly stdin?: Writable;
  readonly stdout: Readable;
  readonly stderr?: Readable;
  resize(size: TerminalSize): void;
  /** 128 + the signal's number for a killed process. */
  readonly exitCode: Promise<number>;
}

/** Joins the container's control groups, where it may, and becomes the command. */
const joinGroups =
  'groups=$1; shift; for group in $groups; do echo 0 2>/dev/null >"$group/cgroup.procs"; done; exec "$@"';
/** kubectl cp unpacks with tar, which as root gives files to the users of the archive: where there are none, it fails. */
const keepNoOwners = { TAR_OPTIONS: '--no-same-owner' };
/** Output may be held open by what the process left behind; after its end, so much silence ends it. */
const silenceMs = 500;

/** Starts a command in a running container. `signal` kills it, and what it has started in its process group. */
export async function startInContainer(
  container: ContainerProcess,
  { command, user, cgroups, stdin, tty }: ContainerExec,
  signal: AbortSignal,
): Promise<StreamedProcess> {
  const words = tty ? terminalCommand(command, container.helpers) : command;
  const entry = entryCommand(container, { command: words, ...(user === undefined ? {} : { user }) });
  const child = spawn(
    '/bin/sh',
    ['-c', joinGroups, 'castellan-exec', cgroups.join(' '), entry.program, ...entry.args],
    {
      detached: true,
      // A terminal without input stays silent; it does not end.
      stdio: [stdin || tty ? 'pipe' : 'ignore', 'pipe', 'pipe'],
      env: { ...(tty ? { TERM: 'xterm' } : {}), ...(isRootAlone() ? keepNoOwners : {}), ...entry.environment },
    },
  );
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', reject);
  });
  // From the first moment: Node throws away what nobody has begun to read when the process ends.
  const stdout = outputOf(child.stdout);
  const stderr = outputOf(child.stderr);
  const kill = () => killGroup(child.pid);
  signal.addEventListener('abort', kill, { once: true });
  if (signal.aborted) kill();
  const exitCode = new Promise<number>((resolve) => {
    child.once('exit', (code, killedBy) => {
      signal.removeEventListener('abort', kill);
      for (const output of [child.stdout, child.stderr]) endWhenSilent(output);
      resolve(code ?? 128 + (killedBy === null ? 0 : constants.signals[killedBy]));
    });
  });
  // A program that ends before it has read its input is judged by its exit code.
  child.stdin?.on('error', () => undefined);
  return {
    ...(stdin && child.stdin !== null ? { stdin: child.stdin } : {}),
    stdout,
    ...(tty ? {} : { stderr }),
    resize(size) {
      // nsenter waits outside for what it has started inside.
      if (tty) void resizeTerminal(() => childrenOf(child.pid ?? 0)[0], size);
    },
    exitCode,
  };
}

/** In a user namespace of an ordinary user, root is the only user there is. */
function isRootAlone(): boolean {
  const [, , count] = readFileSync('/proc/self/uid_map', 'utf8').trim().split(/\s+/);
  return count === '1';
}

function outputOf(source: Readable | null): Readable {
  const output = new PassThrough();
  source?.pipe(output);
  source?.once('close', () => output.end());
  return output;
}

function endWhenSilent(output: Readable | null): void {
  if (output === null || output.closed) return;
  const look = () => {
    // What waits for a slow reader is no silence.
    if (output.readableLength === 0) output.destroy();
    else timer.refresh();
  };
  const timer = setTimeout(look, silenceMs);
  output.on('data', () => timer.refresh());
  output.once('close', () => clearTimeout(timer));
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It ended by itself in the meantime.
  }
}
