import { type Secret, type ServiceAccount, secrets } from '@castellan/machinery';
import type { OperatorScenario } from '@castellan/testkit';

const namespace = 'default';
const account: ServiceAccount = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { namespace, name: 'web' } };

function tokenSecret(name: string, accountName: string): Secret {
  const annotations = { 'kubernetes.io/service-account.name': accountName };
  const type = 'kubernetes.io/service-account-token';
  return { apiVersion: 'v1', kind: 'Secret', metadata: { namespace, name, annotations }, type };
}

const filled: Readonly<Record<string, string>> = { one: 'a', two: 'a,b' };

/** Secrets for tokens of an account, of which one is given to an account that is not there: it goes, and may come again. */
export const tokenSecretChecks: OperatorScenario = {
  name: 'token secrets',
  process: 'plane',
  setUp: () => ({ nodes: 1 }),
  arrange: [account],
  specs: {
    two: [tokenSecret('a', 'web'), tokenSecret('b', 'web')],
    one: [tokenSecret('a', 'web'), tokenSecret('b', 'nobody')],
  },
  settled: (cluster, spec) => {
    const found = cluster.state.list(secrets);
    const names = found.map(({ metadata }) => metadata.name).sort();
    return names.join() === filled[spec] && found.every(({ data }) => (data?.token ?? '') !== '');
  },
  outcome: [secrets],
  mayDiffer: { Secret: ['data.token'] },
  path: /\/(secrets|serviceaccounts)\b/,
};
