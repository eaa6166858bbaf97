import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  configMaps,
  endpointSlices,
  endpoints,
  type KubernetesObject,
  namespaces,
  type Pod,
  type Service,
  serviceAccounts,
} from '@castellan/machinery';
import { checkOperator, type OperatorScenario } from '../src/index.js';

function pod(name: string, app: string): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'default', name, labels: { app } },
    spec: { containers: [{ name: 'main', image: 'web:1' }] },
  };
}

function service(app: string): Service {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace: 'default', name: 'web' },
    spec: { selector: { app }, ports: [{ port: 80 }] },
  };
}

const wantedEndpoints: Readonly<Record<string, number>> = { old: 1, new: 1 };

const endpointsOfServices: OperatorScenario = {
  name: 'endpoints',
  process: 'plane',
  setUp: () => ({ nodes: 1 }),
  arrange: [pod('old-1', 'old'), pod('new-1', 'new')],
  specs: { old: [service('old')], new: [service('new')] },
  settled: (cluster, spec) => {
    const own = { namespace: 'default', labels: { 'kubernetes.io/service-name': 'web' } };
    const found = cluster.state.list(endpointSlices, own).flatMap((slice) => slice.endpoints ?? []);
    const legacy = cluster.state.get(endpoints, { namespace: 'default', name: 'web' })?.subsets ?? [];
    const isReady = found.every(({ conditions, targetRef }) => conditions?.ready && targetRef?.name?.startsWith(spec));
    const count = wantedEndpoints[spec];
    return isReady && found.length === count && legacy.flatMap(({ addresses = [] }) => addresses).length === count;
  },
  outcome: [endpointSlices, endpoints],
  mayDiffer: {
    // When the pods became ready is chance.
    Endpoints: ['metadata.annotations'],
    EndpointSlice: ['metadata.annotations'],
  },
  path: /\/(services|endpoints|endpointslices)\b/,
};

function namespace(labels: Readonly<Record<string, string>>): KubernetesObject {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team', labels } };
}

/** What every namespace is given: an account, and the certificate of the API server. */
const giftsToNamespaces: OperatorScenario = {
  name: 'namespaces',
  process: 'plane',
  setUp: () => ({ nodes: 0 }),
  specs: { plain: [namespace({ kind: 'plain' })], strict: [namespace({ kind: 'strict' })] },
  settled: (cluster, spec) =>
    cluster.state.get(namespaces, { name: 'team' })?.metadata.labels?.kind === spec &&
    // Those of the system as well: they are part of the outcome.
    cluster.state.list(namespaces).every(({ metadata: { name = '' } }) => {
      const account = cluster.state.get(serviceAccounts, { namespace: name, name: 'default' });
      return account !== undefined && cluster.state.get(configMaps, { namespace: name, name: 'kube-root-ca.crt' });
    }),
  outcome: [namespaces, serviceAccounts, configMaps],
  path: /\/(namespaces|serviceaccounts|configmaps)\b/,
};

for (const scenario of [endpointsOfServices, giftsToNamespaces]) {
  test(`T13 the plane's controllers of ${scenario.name} pass every check at points spread over a change`, async () => {
    const report = await checkOperator(scenario, { atMost: 2 });
    assert.deepEqual(report.failures, [], String(report));
  });
}
