import { createServer } from 'node:net';
import { enterRootless, removeUserNamespace } from '@castellan/embedded';
import { waitFor } from '@castellan/world';
import { type Context, insideVariable } from '../context.js';
import { CliError } from '../errors.js';
import type { Announce } from './announce.js';
import { ensureDirectory } from './ensure-directory.js';
import { probeReady } from './probe-ready.js';

const pollMs = 20;
const startDeadlineMs = 30_000;
/** From here on an exit status says which signal ended the process. */
const killed = 128;

export interface InsideOptions {
  readonly port: number;
  /** The command line again, as it is to be run inside. */
  readonly args: readonly string[];
  readonly announce: Announce;
}

/**
 * Runs this program again in the user namespace of the data directory, and gives its exit status; it reports its own
 * failure. When it has stopped in good order, the namespace is removed; when it was killed, its pods go on, for the next
 * start to adopt.
 */
export async function runInUserNamespace(context: Context, options: InsideOptions): Promise<number> {
  const { dataDirectory, stopSignal, world } = context;
  ensureDirectory(dataDirectory);
  const port = options.port === 0 ? await freePort() : options.port;
  const inside = await enterRootless({
    dataDirectory,
    command: [...context.self, ...options.args, '--port', String(port), '--data-dir', dataDirectory],
    environment: { [insideVariable]: 'yes' },
    port,
  }).catch((error) => {
    throw namespaceFailure(error, port);
  });
  // A terminal sends Ctrl-C to both of us; this second signal is one that the process inside ignores the second time.
  const onStop = (): void => inside.signal('SIGTERM');
  stopSignal.addEventListener('abort', onStop, { once: true });
  const url = `https://127.0.0.1:${port}`;
  const ended = new AbortController();
  const exited = inside.exited.finally(() => ended.abort());
  void waitFor(world, () => probeReady(url), {
    what: 'the API server to be ready',
    deadlineMs: startDeadlineMs,
    everyMs: pollMs,
    signal: ended.signal,
  }).then(
    () => options.announce({ type: 'ready', url }),
    () => undefined, // It has ended, or will say itself why it is late.
  );
  const status = await exited;
  stopSignal.removeEventListener('abort', onStop);
  if (status < killed) await removeUserNamespace(dataDirectory);
  return status;
}

/** The port must be known on both sides before either listens. */
function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

function namespaceFailure(error: unknown, port: number): unknown {
  if (!(error instanceof Error)) return error;
  if ('code' in error && error.code === 'EADDRINUSE') {
    return new CliError('PORT_IN_USE', `port ${port} of 127.0.0.1 is in use.`, { cause: error });
  }
  const [what = error.message, next] = error.message.split('; next: ');
  return new CliError('MACHINE_NOT_READY', what, { cause: error, ...(next === undefined ? {} : { next }) });
}
