import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { podsOnDisk, suspendRuns } from '../pods/pod-directory.js';
import { cutPod } from '../pods/recorded-processes.js';
import { detectCgroups, removePlaneCgroups } from '../sandbox/cgroups.js';
import { unmountBelow } from '../sandbox/mount-points.js';
import { bridgeName, forgetPlaneNetwork, removePlaneNetwork } from '../sandbox/plane-network.js';
import { leftNamespaces, removePodNetworks } from '../sandbox/pod-network.js';

export interface RemovalOptions {
  /** Also all volumes, those of claims too, logs and records; without it pods resume from their volumes at the next start. */
  readonly volumes?: boolean;
}

const attempts = 100;
const pauseMs = 20;

/**
 * Ends every process of a plane's pods and removes its namespaces, devices, mounts, bridge and control groups, whether or not
 * a plane is running or its records are whole: all of them are found by names that follow from the directory.
 */
export async function removeEverything(dataDirectory: string, options: RemovalOptions = {}): Promise<void> {
  if (!existsSync(dataDirectory)) return;
  suspendRuns(dataDirectory);
  const bridge = bridgeName(dataDirectory);
  // Those whose network somebody has deleted are found by their records alone.
  for (const pod of podsOnDisk(dataDirectory)) cutPod(pod, bridge);
  await removePodNetworks(await leftNamespaces(dataDirectory), bridge);
  await unmountBelow(join(dataDirectory, 'pods'));
  await removePlaneNetwork(dataDirectory);
  await removeGroups(dataDirectory);
  if (options.volumes === true) {
    forgetPlaneNetwork(dataDirectory);
    for (const folder of ['pods', 'volumes']) rmSync(join(dataDirectory, folder), { recursive: true, force: true });
  }
}

/** The kernel takes a moment to empty a group after the last kill. */
async function removeGroups(dataDirectory: string): Promise<void> {
  const layout = detectCgroups(bridgeName(dataDirectory));
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    if (removePlaneCgroups(layout, bridgeName(dataDirectory))) return;
    await sleep(pauseMs);
  }
  throw new Error(`control group ${bridgeName(dataDirectory)} still has processes two seconds after they were killed`);
}
