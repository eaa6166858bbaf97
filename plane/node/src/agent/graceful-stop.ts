import type { World } from '@castellan/world';
import { podsOnDisk, suspendRuns } from '../pods/pod-directory.js';
import { recordedProcesses } from '../pods/recorded-processes.js';
import type { ContainerProcess } from '../sandbox/container-process.js';
import { bridgeName } from '../sandbox/plane-network.js';

const lookAgainMs = 20;

/**
 * Members of one instance that are all asked to end at once have nobody left to hand over to, and wait for it: three etcd
 * members took 7 s. So each is asked when the one before it has ended, or after this long, or less when there are many.
 */
const longestHeadStartMs = 500;
const allHeadStartsMs = 3_000;

/**
 * Asks every container of the plane to end, one shortly after the other, and waits until all have, or the deadline. They
 * are marked as suspended: whatever their restart policy says, the next start of the plane takes them up again from
 * their volumes.
 */
export async function stopAllPods(dataDirectory: string, world: World, deadlineMs: number): Promise<void> {
  suspendRuns(dataDirectory);
  const bridge = bridgeName(dataDirectory);
  const running = podsOnDisk(dataDirectory).flatMap((pod) => recordedProcesses(pod, bridge));
  const end = world.clock.monotonicNow() + deadlineMs;
  const headStartMs = Math.min(longestHeadStartMs, allHeadStartsMs / running.length);
  const isRunning = (process: ContainerProcess) => process.state().kind === 'running';
  let lastAskedMs = Number.NEGATIVE_INFINITY;
  // Looked at while they are waited for only: with hundreds of containers the looks themselves would take the time.
  const waiting = [...running];
  let asked: readonly ContainerProcess[] = [];
  for (;;) {
    const nowMs = world.clock.monotonicNow();
    asked = asked.filter(isRunning);
    while (waiting[0] !== undefined && !isRunning(waiting[0])) waiting.shift();
    const [next] = waiting;
    if ((next === undefined && asked.length === 0) || nowMs >= end) return;
    const isNextDue = asked.length === 0 || nowMs - lastAskedMs >= headStartMs;
    if (next !== undefined && isNextDue && next.terminate()) {
      waiting.shift();
      asked = [...asked, next];
      lastAskedMs = nowMs;
    }
    await world.clock.sleep(lookAgainMs);
  }
}
