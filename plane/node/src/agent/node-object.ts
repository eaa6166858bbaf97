import { arch, cpus, hostname, release, totalmem } from 'node:os';
import type { Client } from '@castellan/client';
import { isStatusError, type Lease, leases, type Node, nodes } from '@castellan/machinery';
import type { World } from '@castellan/world';
import { formatTime } from '../pods/pod-status.js';
import { bootId } from '../sandbox/process-identity.js';

export interface NodeDescription {
  readonly name: string;
  /** Pods see the machine at this address. */
  readonly address: string;
  readonly podCidr: string;
  readonly zone?: string;
}

const podLimit = 110;
const leaseSeconds = 40;
const leaseNamespace = 'kube-node-lease';

/** Makes the Node object, or brings the one that is there up to date. */
export async function registerNode(client: Client, world: World, node: NodeDescription): Promise<void> {
  const key = { name: node.name };
  const labels = {
    'kubernetes.io/hostname': node.name,
    'kubernetes.io/os': 'linux',
    'kubernetes.io/arch': kubernetesArch(),
    ...(node.zone === undefined ? {} : { 'topology.kubernetes.io/zone': node.zone }),
  };
  const present = await client.find(nodes, key);
  if (present === undefined) {
    try {
      const object: Node = {
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name: node.name, labels },
        spec: { podCIDR: node.podCidr, podCIDRs: [node.podCidr] },
      };
      await client.create(nodes, object);
    } catch (error) {
      if (!isStatusError(error, 'AlreadyExists')) throw error;
    }
  }
  if (
    present !== undefined &&
    Object.entries(labels).some(([name, value]) => present.metadata.labels?.[name] !== value)
  ) {
    await client.patch(nodes, key, { type: 'merge', body: { metadata: { labels } } });
  }
  await reportNode(client, world, node);
}

/** Writes the node's status: that it is ready, what it has and where it is. */
async function reportNode(client: Client, world: World, node: NodeDescription): Promise<void> {
  const current = await client.get(nodes, { name: node.name });
  const status = nodeStatus(current, node, world.clock.now());
  await client.patch(nodes, { name: node.name }, { type: 'merge', body: { status } }, { subresource: 'status' });
}

/** The heartbeat that node lifecycle controllers watch. */
export async function renewLease(client: Client, world: World, nodeName: string): Promise<void> {
  const key = { namespace: leaseNamespace, name: nodeName };
  const renewTime = new Date(world.clock.now()).toISOString().replace('Z', '000Z');
  const spec = { holderIdentity: nodeName, leaseDurationSeconds: leaseSeconds, renewTime };
  try {
    await client.patch(leases, key, { type: 'merge', body: { spec } });
  } catch (error) {
    if (!isStatusError(error, 'NotFound')) throw error;
    const lease: Lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: key, spec };
    await client.create(leases, lease);
  }
}

function nodeStatus(current: Node, node: NodeDescription, nowMs: number): Node['status'] {
  const resources = {
    cpu: String(cpus().length),
    memory: `${Math.floor(totalmem() / 1024)}Ki`,
    pods: String(podLimit),
  };
  const conditions = [
    ['MemoryPressure', 'False', 'KubeletHasSufficientMemory', 'the machine has memory left'],
    ['DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'the machine has disk space left'],
    ['PIDPressure', 'False', 'KubeletHasSufficientPID', 'the machine has process numbers left'],
    ['Ready', 'True', 'KubeletReady', 'the node agent runs'],
  ] as const;
  return {
    capacity: resources,
    allocatable: resources,
    addresses: [
      { type: 'InternalIP', address: node.address },
      { type: 'Hostname', address: node.name },
    ],
    conditions: conditions.map(([type, status, reason, message]) => {
      const before = current.status?.conditions?.find((condition) => condition.type === type);
      const since = before?.status === status ? before.lastTransitionTime : undefined;
      const now = formatTime(nowMs);
      return { type, status, reason, message, lastHeartbeatTime: now, lastTransitionTime: since ?? now };
    }),
    nodeInfo: {
      architecture: kubernetesArch(),
      bootID: bootId(),
      containerRuntimeVersion: 'castellan://0.1.0',
      kernelVersion: release(),
      kubeProxyVersion: 'v1.36.0',
      kubeletVersion: 'v1.36.0',
      machineID: hostname(),
      operatingSystem: 'linux',
      osImage: 'the machine itself',
      systemUUID: '',
    },
  };
}

function kubernetesArch(): string {
  const known: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386' };
  return known[arch()] ?? arch();
}
