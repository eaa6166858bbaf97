import { type Pod, pods } from '@castellan/machinery';
import type { OperatorScenario } from '@castellan/testkit';

/** As a node leaves it that is deleted while it runs pods. */
function podOn(nodeName: string, name: string): Pod {
  const spec = { nodeName, containers: [{ name: 'main', image: 'web:1' }] };
  return { apiVersion: 'v1', kind: 'Pod', metadata: { namespace: 'default', name }, spec };
}

/** Pods of nodes that are gone are ended by nobody else. */
export const lostPodChecks: OperatorScenario = {
  name: 'lost pods',
  process: 'plane',
  setUp: () => ({ nodes: 1 }),
  arrange: [podOn('node-1', 'stays')],
  specs: { one: [podOn('gone', 'a')], two: [podOn('gone', 'a'), podOn('gone-too', 'b')] },
  settled: (cluster) => cluster.state.list(pods).every(({ spec }) => spec?.nodeName === 'node-1'),
  outcome: [pods],
  path: /\/(nodes|pods)\b/,
};
