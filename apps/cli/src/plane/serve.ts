import { chmodSync, rmSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { openRootlessPort, type Plane, startPlane } from '@castellan/embedded';
import { type ManagerServer, serveManagers } from '@castellan/runtime';
import { waitFor } from '@castellan/world';
import type { Context } from '../context.js';
import { filesIn } from '../data-directory.js';
import { CliError } from '../errors.js';
import { ensureDirectory } from './ensure-directory.js';
import { loadOperators } from './operators.js';
import { openPlaneLog } from './plane-log.js';
import { removeProcessRecord, startTimeOf, writeProcessRecord } from './process-record.js';
import { sayTroubleOnce } from './say-trouble.js';
import { serveNodes } from './serve-nodes.js';
import type { UpOptions } from './up-options.js';

const startDeadlineMs = 30_000;

/**
 * How much the heap may grow before it is collected. V8's own choice, which is up to four times, holds 350 MB after 65,000
 * creates of which 250 MB are needed; this costs about a twentieth of the CPU.
 */
const heapGrowth = '--heap-growing-percent=60';

/** A plane in this process. */
export interface ServedPlane {
  readonly plane: Plane;
  /** Aborted when a part of the plane fails while it runs; the reason is the error. */
  readonly failed: AbortSignal;
  /** Stops the plane and its pods, and forgets that this process ran them. */
  stop(): Promise<void>;
}

/** Starts a plane in this process and reports each phase. When it fails, what was started is stopped. */
export async function servePlane(
  context: Context,
  options: UpOptions,
  onPhase: (name: string, ms: number) => void,
): Promise<ServedPlane> {
  const { dataDirectory, reporter, world } = context;
  setFlagsFromString(heapGrowth);
  const files = filesIn(dataDirectory);
  ensureDirectory(dataDirectory);
  const log = openPlaneLog({ path: files.log, world, onTrouble: sayTroubleOnce((line) => reporter.warn(line)) });
  const self = { pid: process.pid, startTime: startTimeOf(process.pid) };
  writeProcessRecord(files.processRecord, self);
  const failure = new AbortController();
  try {
    const operators = await loadOperators(options.operators);
    const starting = startPlane({
      dataDirectory,
      ...(options.storage === undefined ? {} : { storage: options.storage }),
      ...(options.encryptionConfiguration === undefined
        ? {}
        : { encryptionConfiguration: options.encryptionConfiguration }),
      ...(options.auditLog === undefined ? {} : { auditLog: options.auditLog }),
      ...(options.auditPolicyFile === undefined ? {} : { auditPolicyFile: options.auditPolicyFile }),
      ...(options.tokenAuthFile === undefined ? {} : { tokenAuthFile: options.tokenAuthFile }),
      port: options.port,
      world,
      log,
      node: options.hasNode,
      nodes: options.nodes,
      controllers: options.hasControllers,
      operators,
      onPhase: ({ name, ms }) => onPhase(name, ms),
      onFailure: (error) => failure.abort(error),
    });
    const plane = await waitFor(world, () => starting, { what: 'the plane to start', deadlineMs: startDeadlineMs });
    const managerServer = await serveManagersOf(plane, files.managerSocket);
    const nodeServer = plane.nodes === undefined ? undefined : await serveNodes(plane.nodes, files.nodeSocket);
    const forward = context.isInUserNamespace ? await openRootlessPort(dataDirectory, plane.port) : undefined;
    writeProcessRecord(files.processRecord, { ...self, url: plane.url });
    const stop = async (): Promise<void> => {
      await managerServer.close();
      await nodeServer?.close();
      await plane.stop({ pods: 'stop' });
      await forward?.close();
      removeProcessRecord(files.processRecord);
    };
    return { plane, failed: failure.signal, stop };
  } catch (error) {
    removeProcessRecord(files.processRecord);
    throw startFailure(error, options.port);
  }
}

/** For `castellan explain`. Whoever may read the kubeconfig may ask. */
async function serveManagersOf(plane: Plane, path: string): Promise<ManagerServer> {
  // Of a plane that was killed.
  rmSync(path, { force: true });
  const server = await serveManagers({ managers: () => plane.managers(), listen: { path } });
  chmodSync(path, 0o600);
  return server;
}

/** Errors of the plane say what, why and, after "next:", what to do. */
function startFailure(error: unknown, port: number): unknown {
  if (error instanceof CliError) return error;
  if (hasCode(error, 'EADDRINUSE')) {
    return new CliError('PORT_IN_USE', `port ${port} of 127.0.0.1 is in use.`, { cause: error });
  }
  const text = error instanceof Error ? error.message : String(error);
  if (hasCode(error, 'EtcdUnreachable') || hasCode(error, 'EtcdRefused')) {
    const nextAt = text.lastIndexOf('; ');
    return new CliError('STORAGE_NOT_AVAILABLE', `The plane did not start: ${text.slice(0, nextAt)}.`, {
      cause: error,
      next: text.slice(nextAt + 2),
    });
  }
  const [what = text, next] = text.split(/;? [Nn]ext: /);
  const code = (['STORAGE_MISMATCH', 'ENCRYPTION'] as const).find((known) => hasCode(error, known)) ?? 'START_FAILED';
  return new CliError(code, `The plane did not start: ${what}`, {
    cause: error,
    ...(next === undefined ? {} : { next }),
  });
}

function hasCode(error: unknown, code: string): boolean {
  if (!(error instanceof Error)) return false;
  return ('code' in error && error.code === code) || hasCode(error.cause, code);
}
