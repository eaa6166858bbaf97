import { type Pod, type ResourceQuota, resourceQuotas } from '@castellan/machinery';
import type { OperatorScenario } from '@castellan/testkit';

const key = { namespace: 'default', name: 'few' };
const hardOf: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  pods: { pods: '5' },
  cores: { pods: '4', 'requests.cpu': '2' },
};

function pod(name: string): Pod {
  const spec = { containers: [{ name: 'main', image: 'web:1', resources: { requests: { cpu: '250m' } } }] };
  return { apiVersion: 'v1', kind: 'Pod', metadata: { namespace: 'default', name }, spec };
}

function quota(hard: Readonly<Record<string, string>> = {}): ResourceQuota {
  return { apiVersion: 'v1', kind: 'ResourceQuota', metadata: key, spec: { hard } };
}

/** A quota that comes when pods are there, and then counts something else too. */
export const quotaChecks: OperatorScenario = {
  name: 'quotas',
  process: 'plane',
  setUp: () => ({ nodes: 1 }),
  arrange: ['a', 'b'].map(pod),
  specs: { pods: [quota(hardOf.pods)], cores: [quota(hardOf.cores)] },
  settled: (cluster, spec) => {
    const { hard, used } = cluster.state.get(resourceQuotas, key)?.status ?? {};
    return JSON.stringify(hard) === JSON.stringify(hardOf[spec]) && used?.pods === '2';
  },
  outcome: [resourceQuotas],
  path: /\/(resourcequotas|pods)\b/,
};
