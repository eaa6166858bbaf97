import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ServiceBackends } from './service-backends.js';
import { serviceEnvironment } from './service-environment.js';
import { ServiceTable } from './service-table.js';

function service(namespace: string, name: string, rest: Partial<ServiceBackends>): ServiceBackends {
  return {
    ...{ namespace, name, clusterIp: undefined, externalName: undefined, ports: [] },
    ...{ affinityMs: undefined, selectsPods: true, staysOnNode: false, entersOwnNode: false },
    ...rest,
  };
}

function port(number: number, name?: string, protocol = 'TCP') {
  return { name, protocol, port: number, nodePort: undefined, backends: [] };
}

const table = new ServiceTable();
table.replace('default', [service('default', 'kubernetes', { clusterIp: '10.96.0.1', ports: [port(443, 'https')] })]);
table.replace('shop', [
  service('shop', 'red-is', { clusterIp: '10.96.0.7', ports: [port(6379, 'main'), port(53, 'dns-udp', 'UDP')] }),
  service('shop', 'headless', { ports: [port(80)] }),
]);

const kubernetes = {
  KUBERNETES_SERVICE_HOST: '10.96.0.1',
  KUBERNETES_SERVICE_PORT: '443',
  KUBERNETES_SERVICE_PORT_HTTPS: '443',
  KUBERNETES_PORT: 'tcp://10.96.0.1:443',
  KUBERNETES_PORT_443_TCP: 'tcp://10.96.0.1:443',
  KUBERNETES_PORT_443_TCP_PROTO: 'tcp',
  KUBERNETES_PORT_443_TCP_PORT: '443',
  KUBERNETES_PORT_443_TCP_ADDR: '10.96.0.1',
};

test('N13 a pod has the addresses of the services of its namespace, and of service kubernetes, in its environment', () => {
  assert.deepEqual(serviceEnvironment(table, { namespace: 'shop', isLinked: true }), {
    ...kubernetes,
    RED_IS_SERVICE_HOST: '10.96.0.7',
    RED_IS_SERVICE_PORT: '6379',
    RED_IS_SERVICE_PORT_MAIN: '6379',
    RED_IS_SERVICE_PORT_DNS_UDP: '53',
    RED_IS_PORT: 'tcp://10.96.0.7:6379',
    RED_IS_PORT_6379_TCP: 'tcp://10.96.0.7:6379',
    RED_IS_PORT_6379_TCP_PROTO: 'tcp',
    RED_IS_PORT_6379_TCP_PORT: '6379',
    RED_IS_PORT_6379_TCP_ADDR: '10.96.0.7',
    RED_IS_PORT_53_UDP: 'udp://10.96.0.7:53',
    RED_IS_PORT_53_UDP_PROTO: 'udp',
    RED_IS_PORT_53_UDP_PORT: '53',
    RED_IS_PORT_53_UDP_ADDR: '10.96.0.7',
  });
});

test('N13 without service links it has those of service kubernetes alone', () => {
  assert.deepEqual(serviceEnvironment(table, { namespace: 'shop', isLinked: false }), kubernetes);
});
