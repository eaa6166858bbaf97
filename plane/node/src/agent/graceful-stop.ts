import type { World } from '@castellan/world';
import { podsOnDisk, suspendRuns } from '../pods/pod-directory.js';
import { ContainerProcess } from '../sandbox/container-process.js';
import { bridgeName } from '../sandbox/plane-network.js';

const lookAgainMs = 20;

/**
 * Asks every container of the plane to end and waits until all have, or the deadline. They are marked as suspended:
 * whatever their restart policy says, the next start of the plane takes them up again from their volumes.
 */
export async function stopAllPods(dataDirectory: string, world: World, deadlineMs: number): Promise<void> {
  suspendRuns(dataDirectory);
  const bridge = bridgeName(dataDirectory);
  const running = podsOnDisk(dataDirectory).flatMap((pod) => {
    const record = pod.read();
    if (record === undefined) return [];
    return pod.containers().flatMap((container) => {
      const number = pod.runNumbers(container).at(-1);
      if (number === undefined) return [];
      return ContainerProcess.adopt(pod.runDirectory(container, number), `${bridge}-${record.networkIndex}`);
    });
  });
  const end = world.clock.monotonicNow() + deadlineMs;
  const asked = new Set<ContainerProcess>();
  for (;;) {
    const left = running.filter((process) => process.state().kind === 'running');
    if (left.length === 0 || world.clock.monotonicNow() >= end) return;
    for (const process of left) if (!asked.has(process) && process.terminate()) asked.add(process);
    await world.clock.sleep(lookAgainMs);
  }
}
