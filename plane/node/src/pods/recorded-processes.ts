import { ContainerProcess } from '../sandbox/container-process.js';
import type { PodDirectory } from './pod-directory.js';

/** The newest start of each container of a pod, as its files tell: without a worker, and whether or not its network is there. */
export function recordedProcesses(directory: PodDirectory, bridge: string): readonly ContainerProcess[] {
  const record = directory.read();
  if (record === undefined) return [];
  return directory.containers().flatMap((container) => {
    const number = directory.runNumbers(container).at(-1);
    if (number === undefined) return [];
    return ContainerProcess.adopt(directory.runDirectory(container, number), `${bridge}-${record.networkIndex}`);
  });
}
