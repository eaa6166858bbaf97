import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Pod } from '@castellan/machinery';
import { ContainerProcess } from '../sandbox/container-process.js';
import type { PodNetwork } from '../sandbox/pod-network.js';
import type { ProcessIdentity } from '../sandbox/process-identity.js';
import type { PodDirectory } from './pod-directory.js';
import { podHostname } from './pod-files.js';

/**
 * The processes of a pod whose containers see one another's (`shareProcessNamespace`): a program that only sleeps is there before the
 * first container and after the last, as a pause container elsewhere. When it is killed, all of them are.
 */
export async function ensureSharedProcesses(
  directory: PodDirectory,
  pod: Pod,
  network: PodNetwork,
): Promise<ProcessIdentity> {
  const known = sharedProcesses(directory, network.namespace).mainProcess();
  if (known !== undefined) return known;
  const path = placeOf(directory);
  rmSync(path, { recursive: true, force: true });
  const started = await ContainerProcess.start({
    directory: path,
    networkNamespace: network.namespace,
    hostname: podHostname(pod),
    command: ['/usr/bin/sleep', 'infinity'],
    environment: {},
    workingDirectory: '/',
    root: { files: [], mounts: [], isReadOnly: true },
    cgroups: [],
    hasInput: false,
  });
  const process = started.mainProcess();
  if (process === undefined) throw new Error('the processes that the containers of the pod share cannot be made');
  return process;
}

/** The sleeping program, as its files tell; of a pod that shares none it was never started. Its supervisor knows it in any network. */
export function sharedProcesses(directory: PodDirectory, namespace: string): ContainerProcess {
  return ContainerProcess.adopt(placeOf(directory), namespace);
}

function placeOf(directory: PodDirectory): string {
  return join(directory.path, 'shared-processes');
}
