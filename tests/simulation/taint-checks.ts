import { type Node, pods, type ReplicaSet } from '@castellan/machinery';
import type { OperatorScenario } from '@castellan/testkit';

const labels = { app: 'web' };
const web: ReplicaSet = {
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  metadata: { namespace: 'default', name: 'web' },
  spec: {
    replicas: 2,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'web:1' }] } },
  },
};

function node(name: string, isTainted: boolean): Node {
  const taints = isTainted ? [{ key: 'upkeep', effect: 'NoExecute' }] : [];
  return { apiVersion: 'v1', kind: 'Node', metadata: { name }, spec: { taints } };
}

/** Pods are driven from one of two nodes to the other, whichever is tainted; the specs are named by the node that is left. */
export const taintChecks: OperatorScenario = {
  name: 'taints',
  process: 'plane',
  setUp: () => ({ nodes: 2 }),
  arrange: [web],
  specs: {
    'node-1': [node('node-1', false), node('node-2', true)],
    'node-2': [node('node-2', false), node('node-1', true)],
  },
  settled: (cluster, spec) => {
    const found = cluster.state.list(pods);
    return found.length === 2 && found.every((pod) => pod.spec?.nodeName === spec && pod.status?.phase === 'Running');
  },
  outcome: [pods],
  mayDiffer: { Pod: ['status'] },
  path: /\/(nodes|pods)\b/,
};
