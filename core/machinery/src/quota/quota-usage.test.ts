import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatAmounts } from './amounts.js';
import { isInQuotaScope } from './quota-scope.js';
import { isCountedIn, quotaUsage } from './quota-usage.js';

const pods = { group: '', plural: 'pods' };
const usage = (type: { group: string; plural: string }, object: object) => formatAmounts(quotaUsage(type, object));
const asking = (cpu: string, more = {}) => ({ resources: { requests: { cpu } }, ...more });

test('a pod uses what its containers ask for, and is counted', () => {
  const container = { resources: { requests: { cpu: '500m' }, limits: { memory: '1Gi' } } };
  assert.deepEqual(usage(pods, { spec: { containers: [container, container] } }), {
    'count/pods': '1',
    pods: '1',
    'requests.cpu': '1',
    cpu: '1',
    'limits.memory': '2Gi',
  });
});

test('a pod that has ended is an object and nothing else', () => {
  const ended = { spec: { containers: [asking('1')] }, status: { phase: 'Failed' } };
  assert.deepEqual(usage(pods, ended), { 'count/pods': '1' });
});

test('what initialisation needs at most counts where that is more, and sidecars run on beside all', () => {
  const cpuOf = (spec: object) => usage(pods, { spec }).cpu;
  const sidecar = asking('1', { restartPolicy: 'Always' });
  assert.equal(cpuOf({ initContainers: [asking('3')], containers: [asking('2')] }), '3');
  assert.equal(cpuOf({ initContainers: [sidecar, asking('3')], containers: [asking('2')] }), '4');
  assert.equal(cpuOf({ initContainers: [asking('1'), sidecar], containers: [asking('2')] }), '3');
  assert.equal(cpuOf({ containers: [asking('2')], overhead: { cpu: '250m' } }), '2250m');
  assert.equal(cpuOf({ containers: [asking('2')], resources: { requests: { cpu: '5' } } }), '5');
});

test('claims use storage, also of their class; services node ports and load balancers', () => {
  const claim = { spec: { storageClassName: 'fast', resources: { requests: { storage: '5Gi' } } } };
  assert.deepEqual(usage({ group: '', plural: 'persistentvolumeclaims' }, claim), {
    'count/persistentvolumeclaims': '1',
    persistentvolumeclaims: '1',
    'requests.storage': '5Gi',
    'fast.storageclass.storage.k8s.io/persistentvolumeclaims': '1',
    'fast.storageclass.storage.k8s.io/requests.storage': '5Gi',
  });
  const services = { group: '', plural: 'services' };
  const ports = [{ port: 1 }, { port: 2 }];
  assert.deepEqual(usage(services, { spec: { type: 'LoadBalancer', ports } })['services.nodeports'], '2');
  const without = { spec: { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false, ports } };
  assert.equal(usage(services, without)['services.nodeports'], '0');
});

test('kinds of other groups are counted by name and group alone', () => {
  const deployments = { group: 'apps', plural: 'deployments' };
  assert.deepEqual(usage(deployments, {}), { 'count/deployments.apps': '1' });
  assert.equal(isCountedIn('count/deployments.apps', deployments), true);
  assert.equal(isCountedIn('requests.example.com/gpu', pods), true);
  assert.equal(isCountedIn('pods', deployments), false);
});

test('scopes and scope selectors say which pods a quota is about', () => {
  const about = (spec: object, pod: object) => isInQuotaScope({ spec }, pods, { spec: pod });
  const container = { resources: { requests: { cpu: '1' } } };
  assert.equal(about({ scopes: ['BestEffort'] }, { containers: [{}] }), true);
  assert.equal(about({ scopes: ['BestEffort'] }, { containers: [container] }), false);
  assert.equal(about({ scopes: ['Terminating', 'NotBestEffort'] }, { containers: [container] }), false);
  const by = (scopeName: string, operator: string, values?: readonly string[]) => ({
    scopeSelector: { matchExpressions: [{ scopeName, operator, ...(values === undefined ? {} : { values }) }] },
  });
  assert.equal(about(by('PriorityClass', 'In', ['high']), { priorityClassName: 'high' }), true);
  assert.equal(about(by('PriorityClass', 'NotIn', ['high']), {}), true);
  assert.equal(about(by('PriorityClass', 'DoesNotExist'), { priorityClassName: 'low' }), false);
  const term = { topologyKey: 'zone', namespaces: ['other'] };
  const affinity = { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
  assert.equal(about(by('CrossNamespacePodAffinity', 'Exists'), { affinity }), true);
  assert.equal(about(by('CrossNamespacePodAffinity', 'Exists'), {}), false);
});

test('what no scope can be said of is not in a quota that has one', () => {
  const quota = { spec: { scopes: ['NotTerminating'] } };
  assert.equal(isInQuotaScope(quota, { group: '', plural: 'services' }, {}), false);
  assert.equal(isInQuotaScope({ spec: {} }, { group: '', plural: 'services' }, {}), true);
});
