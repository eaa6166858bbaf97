import { podsOfNode } from '../pods/pod-directory.js';
import { cutPod } from '../pods/recorded-processes.js';
import { unmountBelow } from '../sandbox/mount-points.js';
import { bridgeName } from '../sandbox/plane-network.js';
import { removePodNetworks } from '../sandbox/pod-network.js';

/**
 * What a loss of power does to a node: every process of its pods is gone at once, and their networks. Files stay, volumes
 * among them but for those in memory, and nobody has written down how a container ended. May be called again.
 */
export async function powerOff(dataDirectory: string, node: string): Promise<void> {
  const bridge = bridgeName(dataDirectory);
  const pods = podsOfNode(dataDirectory, node).map(({ directory, record }) => ({
    directory,
    network: { index: record.networkIndex, namespace: `${bridge}-${record.networkIndex}` },
  }));
  for (const { directory } of pods) {
    cutPod(directory, bridge);
  }
  await removePodNetworks(
    pods.map(({ network }) => network),
    bridge,
  );
  for (const { directory } of pods) await unmountBelow(directory.path);
}
