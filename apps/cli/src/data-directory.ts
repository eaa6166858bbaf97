import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/**
 * Where a plane keeps everything: `--data-dir`, else `CASTELLAN_HOME`, else `.castellan` in the working directory. So a
 * clone has a plane of its own, and two clones do not meet.
 */
export function resolveDataDirectory(
  option: string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
  workingDirectory: string,
): string {
  const home = environment.CASTELLAN_HOME;
  return resolve(workingDirectory, option ?? (home === undefined || home === '' ? '.castellan' : home));
}

/** The files of a data directory that the command line program reads and writes. */
export function filesIn(dataDirectory: string): {
  readonly kubeconfig: string;
  readonly log: string;
  readonly processRecord: string;
  /** A Unix socket: what the plane's controllers do, and why. */
  readonly managerSocket: string;
  /** A Unix socket: the plane's nodes, to be switched off and on. */
  readonly nodeSocket: string;
} {
  return {
    kubeconfig: join(dataDirectory, 'kubeconfig'),
    log: join(dataDirectory, 'castellan.log'),
    processRecord: join(dataDirectory, 'castellan.pid'),
    managerSocket: socketPath(join(dataDirectory, 'managers.sock')),
    nodeSocket: socketPath(join(dataDirectory, 'nodes.sock')),
  };
}

/** Linux has room for 107 characters; a longer path is replaced by a name in the system's temporary directory. */
function socketPath(path: string): string {
  if (Buffer.byteLength(path) <= 107) return path;
  const hash = createHash('sha256').update(path).digest('hex').slice(0, 16);
  return join(tmpdir(), `castellan-${hash}.sock`);
}
