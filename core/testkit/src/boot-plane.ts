import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@castellan/client';
import { type Plane, startPlane } from '@castellan/embedded';
import { createLog, type LogLevel, type Operator } from '@castellan/runtime';
import { realWorld } from '@castellan/world';

export interface BootOptions {
  /** Installed and running; none by default. */
  readonly operators?: readonly Operator[];
  /** Runs pods as processes of this machine. Off by default: pods are scheduled nowhere, and a test plays their part. */
  readonly node?: boolean;
  /** Controllers and scheduler, as they are by default; without them nothing changes by itself. */
  readonly controllers?: boolean;
  /** Kept afterwards; by default a temporary directory that `stop` removes. */
  readonly dataDirectory?: string;
  /** Lines from this level on go to standard error; nothing by default. */
  readonly logLevel?: LogLevel;
}

export interface BootedPlane {
  /** An administrator's client. */
  readonly client: Client;
  /** For kubectl and other programs. */
  readonly kubeconfigPath: string;
  readonly url: string;
  /** Ends all that was started, and removes what was written. */
  stop(): Promise<void>;
}

/**
 * A whole control plane in the test's process, on a port of its own: API server, controllers, scheduler and operators all
 * work when it resolves. Many may run at once. Fails with the first error of a part, after stopping the others.
 */
export async function bootPlane(options: BootOptions = {}): Promise<BootedPlane> {
  const { operators = [], node = false, controllers = true, logLevel } = options;
  const world = realWorld();
  const dataDirectory = options.dataDirectory ?? (await mkdtemp(join(tmpdir(), 'castellan-testkit-')));
  const removeData = async () => {
    if (options.dataDirectory === undefined) await rm(dataDirectory, { recursive: true, force: true });
  };
  const log = createLog({
    world,
    format: 'human',
    level: logLevel ?? 'error',
    write: (line) => {
      if (logLevel !== undefined) process.stderr.write(`${line}\n`);
    },
  });
  let plane: Plane | undefined;
  try {
    plane = await startPlane({ dataDirectory, port: 0, world, log, node, controllers, operators });
    await plane.working();
  } catch (error) {
    await plane?.stop({ pods: 'stop' });
    await removeData();
    throw error;
  }
  const { client, kubeconfigPath, url } = plane;
  const stopPlane = plane.stop.bind(plane);
  return {
    client,
    kubeconfigPath,
    url,
    async stop() {
      await stopPlane({ pods: 'stop' });
      await removeData();
    },
  };
}
