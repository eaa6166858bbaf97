import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { type Forward, openForward } from './port-forward.js';
import { ensureUserNamespace, enterArguments } from './user-namespace.js';

export interface RootlessOptions {
  readonly dataDirectory: string;
  /** The plane, as it was called: program and arguments. */
  readonly command: readonly string[];
  /** Added to the environment; tells the plane that it is inside. */
  readonly environment: Readonly<Record<string, string>>;
  /** Of the API server: what the plane listens on inside, and callers connect to outside. Not 0. */
  readonly port: number;
}

export interface RootlessPlane {
  /** The plane's exit code; 128 + the signal's number when it was killed. */
  readonly exited: Promise<number>;
  /** Passes a signal on to the plane. */
  signal(name: NodeJS.Signals): void;
}

const host = '127.0.0.1';
const signalNumbers: Readonly<Record<string, number>> = { SIGINT: 2, SIGKILL: 9, SIGTERM: 15 };

/**
 * Runs the whole plane as an ordinary user: in a user namespace where it is root, with networks of its own. Its API port is
 * forwarded from outside through a socket in the data directory, which `openRootlessPort` serves inside. Pods and the
 * namespace outlive the plane; `removeUserNamespace` ends them.
 */
export async function enterRootless(options: RootlessOptions): Promise<RootlessPlane> {
  const { dataDirectory, command, environment, port } = options;
  const namespace = await ensureUserNamespace(dataDirectory);
  const outside = await openForward({ host, port }, { path: socketPath(dataDirectory) });
  const child = spawn('nsenter', enterArguments(namespace, command), {
    stdio: 'inherit',
    env: { ...process.env, ...environment },
  });
  const exited = new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve(code ?? 128 + (signalNumbers[signal ?? ''] ?? 0)));
  }).finally(() => outside.close());
  return { exited, signal: (name) => child.kill(name) };
}

/** Inside: makes the API server's port reachable from outside the namespace. */
export async function openRootlessPort(dataDirectory: string, port: number): Promise<Forward> {
  return await openForward({ path: socketPath(dataDirectory) }, { host, port });
}

function socketPath(dataDirectory: string): string {
  return join(dataDirectory, 'api.sock');
}
