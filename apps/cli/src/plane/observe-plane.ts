import type { Client } from '@castellan/client';
import { etcdClusters } from '@castellan/etcd';
import { isStatusError, type Node, nodes, type Pod, pods } from '@castellan/machinery';
import type { Context } from '../context.js';
import { filesIn } from '../data-directory.js';
import { type InstanceView, stateOf, viewInstance } from '../etcd/instance-view.js';
import { askNodes } from './ask-nodes.js';
import { readText } from './connect-to-plane.js';
import { readLiveProcessRecord } from './process-record.js';

/** A plane and what runs on it, as `castellan status` prints it and `castellan doctor` judges it. */
export interface StatusView {
  readonly plane: {
    readonly url: string;
    readonly isReady: boolean;
    readonly dataDirectory: string;
    readonly pid: number;
  };
  readonly nodes: readonly { readonly name: string; readonly isReady: boolean; readonly reason: string }[];
  readonly etcd: readonly InstanceView[];
  readonly pods: readonly {
    readonly namespace: string;
    readonly name: string;
    readonly state: string;
    readonly address: string;
    readonly node: string;
  }[];
}

export async function observePlane(context: Context, client: Client): Promise<StatusView> {
  const { dataDirectory } = context;
  const ready = await readText(client, '/readyz');
  const [nodeList, podList, clusters] = await Promise.all([
    client.list(nodes),
    client.list(pods),
    client.list(etcdClusters).catch(nothingIfUnknown),
  ]);
  // Nobody answers where the plane runs no nodes: then none of those that there are is ours.
  const own = await askNodes(context).catch(() => []);
  const switchedOff = new Set(own.flatMap(({ name, isRunning }) => (isRunning ? [] : [name])));
  const record = readLiveProcessRecord(filesIn(dataDirectory).processRecord);
  return {
    plane: { url: record?.url ?? '', isReady: ready.status === 200, dataDirectory, pid: record?.pid ?? 0 },
    nodes: nodeList.items.map((node) => viewNode(node, switchedOff)),
    etcd: (clusters?.items ?? []).map((cluster) => viewInstance(cluster, podList.items)),
    pods: podList.items.map(viewPod),
  };
}

/** Without the operator the API server has no such kind. */
function nothingIfUnknown(error: unknown): undefined {
  if (!isStatusError(error, 'NotFound')) throw error;
}

function viewNode(node: Node, switchedOff: ReadonlySet<string>): StatusView['nodes'][number] {
  const { name = '' } = node.metadata;
  if (switchedOff.has(name)) return { name, isReady: false, reason: `it is off; \`castellan node start ${name}\`` };
  const ready = node.status?.conditions?.find(({ type }) => type === 'Ready');
  const isReady = ready?.status === 'True';
  return { name, isReady, reason: isReady ? '' : (ready?.message ?? 'it has not reported yet') };
}

function viewPod(pod: Pod): StatusView['pods'][number] {
  const { namespace = '', name = '' } = pod.metadata;
  return { namespace, name, state: stateOf(pod), address: pod.status?.podIP ?? '', node: pod.spec?.nodeName ?? '' };
}
