import { spawn } from 'node:child_process';

export interface CommandOptions {
  readonly input?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** Milliseconds after which the program is killed and the call fails; 10 s by default. */
  readonly deadlineMs?: number;
  readonly signal?: AbortSignal;
}

export interface CommandResult {
  /** As a shell would say it: 128 + the signal's number for a killed program. */
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly timedOut: boolean;
}

/** A program of the machine failed, or is not installed. The message holds what it said. */
class CommandError extends Error {
  override readonly name = 'CommandError';
}

const outputLimit = 1024 * 1024;

/** Runs a program to its end and returns what it wrote. A non-zero exit is a result, not an error. */
export function runCommand(
  program: string,
  args: readonly string[],
  options: CommandOptions = {},
): Promise<CommandResult> {
  const deadline = AbortSignal.timeout(options.deadlineMs ?? 10_000);
  const signal = options.signal === undefined ? deadline : AbortSignal.any([deadline, options.signal]);
  return new Promise((resolve, reject) => {
    // A group of its own: what a killed program started goes with it (nsenter forks to enter a pid namespace).
    const child = spawn(program, args, {
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
      ...(options.environment === undefined ? {} : { env: options.environment }),
    });
    const stdout = collect(child.stdout);
    const stderr = collect(child.stderr);
    const kill = () => {
      killGroup(child.pid);
      // A grandchild in another group may hold the pipes open for ever.
      child.stdout.destroy();
      child.stderr.destroy();
    };
    signal.addEventListener('abort', kill, { once: true });
    if (signal.aborted) kill();
    child.once('error', (error) => {
      signal.removeEventListener('abort', kill);
      reject(new CommandError(`cannot run ${program}: ${error.message}`, { cause: error }));
    });
    child.once('close', (code, killedBy) => {
      signal.removeEventListener('abort', kill);
      if (options.signal?.aborted) return reject(options.signal.reason);
      const exitCode = code ?? 128 + (killedBy === 'SIGKILL' ? 9 : 15);
      resolve({ exitCode, stdout: stdout(), stderr: stderr(), timedOut: deadline.aborted });
    });
    // A program that ends before it has read its input is judged by its exit code, not by the broken pipe.
    child.stdin.on('error', () => undefined);
    child.stdin.end(options.input ?? '');
  });
}

/** As `runCommand`, but a non-zero exit is a `CommandError` that quotes the program. */
export async function requireCommand(
  program: string,
  args: readonly string[],
  options: CommandOptions = {},
): Promise<string> {
  const result = await runCommand(program, args, options);
  if (result.exitCode === 0) return result.stdout;
  const why = result.timedOut
    ? 'no answer within its deadline'
    : result.stderr.trim() || `exit code ${result.exitCode}`;
  const input = options.input === undefined ? '' : ` (input: ${options.input.trim().replaceAll('\n', '; ')})`;
  throw new CommandError(`${program} ${args.join(' ')} failed: ${why}${input}`);
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It ended by itself in the meantime.
  }
}

function collect(stream: NodeJS.ReadableStream): () => string {
  const chunks: string[] = [];
  let length = 0;
  stream.setEncoding('utf8');
  stream.on('data', (chunk: string) => {
    if (length < outputLimit) chunks.push(chunk);
    length += chunk.length;
  });
  return () => chunks.join('').slice(0, outputLimit);
}
