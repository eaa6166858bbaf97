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
} {
  return {
    kubeconfig: join(dataDirectory, 'kubeconfig'),
    log: join(dataDirectory, 'castellan.log'),
    processRecord: join(dataDirectory, 'castellan.pid'),
  };
}
