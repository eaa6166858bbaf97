import { ContainerProcess } from '../sandbox/container-process.js';
import type { PodDirectory } from './pod-directory.js';
import { sharedProcesses } from './shared-processes.js';

/** The newest start of each container of a pod, as its files tell: without a worker, and whether or not its network is there. */
export function recordedProcesses(directory: PodDirectory, bridge: string): readonly ContainerProcess[] {
  const record = directory.read();
  if (record === undefined) return [];
  const namespace = `${bridge}-${record.networkIndex}`;
  return directory.containers().flatMap((container) => {
    const number = directory.runNumbers(container).at(-1);
    if (number === undefined) return [];
    return ContainerProcess.adopt(directory.runDirectory(container, number), namespace);
  });
}

/** Ends all processes of a pod at once, as far as its files tell of them. */
export function cutPod(directory: PodDirectory, bridge: string): void {
  for (const process of recordedProcesses(directory, bridge)) process.cut();
  sharedProcesses(directory, '').cut();
}
