import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EndpointSlice, Pod, Service } from '@castellan/machinery';
import { serviceFrontends } from './frontend.js';
import { hostPortFrontends, hostPorts } from './host-ports.js';
import { serviceBackends } from './service-backends.js';

function pod(
  name: string,
  podIP: string,
  {
    isReady = true,
    isEnding = false,
    phase = 'Running',
  }: { isReady?: boolean; isEnding?: boolean; phase?: string } = {},
): Pod {
  return {
    metadata: {
      ...{ namespace: 'default', name, labels: { app: 'web' } },
      ...(isEnding ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
    },
    spec: {
      ...{ nodeName: 'node-a', hostname: name, subdomain: 'web' },
      containers: [{ name: 'main', ports: [{ name: 'http', containerPort: 8080 }] }],
    },
    status: { phase, podIP, conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }] },
  };
}

function service(spec: Service['spec']): Service {
  return {
    metadata: { namespace: 'default', name: 'web' },
    spec: { clusterIP: '10.96.0.7', selector: { app: 'web' }, ports: [{ port: 80, targetPort: 'http' }], ...spec },
  };
}

const nodes = [{ name: 'node-a', address: '10.244.0.1' }];
const withoutSelector = { metadata: service({}).metadata, spec: { clusterIP: '10.96.0.7', ports: [{ port: 80 }] } };

function slice(rest: Partial<EndpointSlice>): EndpointSlice {
  const labels = { 'kubernetes.io/service-name': 'web' };
  const metadata = { namespace: 'default', name: 'web-1', labels };
  return { metadata, addressType: 'IPv4', endpoints: [], ports: [{ port: 8080 }], ...rest };
}

/** `ADDRESS:PORT` of the first port's backends. */
function backendsOf(...args: Parameters<typeof serviceBackends>): readonly string[] {
  return (serviceBackends(...args).ports[0]?.backends ?? []).map(({ address, port }) => `${address}:${port}`);
}

test('N17 the backends of a service are its ready pods, at the port that their containers give the name to', () => {
  const pods = [
    pod('a', '10.244.0.2'),
    pod('b', '10.244.0.3', { isReady: false }),
    pod('c', '10.244.0.4', { phase: 'Succeeded' }),
    { ...pod('d', '10.244.0.5'), metadata: { namespace: 'other', name: 'd', labels: { app: 'web' } } },
  ];
  assert.deepEqual(backendsOf(service({}), pods, []), ['10.244.0.2:8080']);
  assert.deepEqual(backendsOf(service({ publishNotReadyAddresses: true }), pods, []), [
    '10.244.0.2:8080',
    '10.244.0.3:8080',
  ]);
});

test('N23 pods that are ending are backends only when nothing else is there, and never names of a headless service', () => {
  const ending = pod('a', '10.244.0.2', { isEnding: true });
  const lame = pod('b', '10.244.0.3', { isEnding: true, isReady: false });
  assert.deepEqual(backendsOf(service({}), [ending, lame], []), ['10.244.0.2:8080']);
  assert.deepEqual(backendsOf(service({}), [ending, lame, pod('c', '10.244.0.4')], []), ['10.244.0.4:8080']);
  assert.deepEqual(backendsOf(service({ clusterIP: 'None' }), [ending], []), []);
});

test('a service without a selector has its backends from EndpointSlices, each port from the slices that have it', () => {
  const endpoints = [
    { addresses: ['10.244.0.2'], conditions: { ready: true } },
    { addresses: ['10.244.0.3'], conditions: { ready: false, serving: true, terminating: true } },
    { addresses: ['10.244.0.4'] },
  ];
  assert.deepEqual(backendsOf(withoutSelector, [], [slice({ endpoints })]), ['10.244.0.2:8080', '10.244.0.4:8080']);
  assert.deepEqual(backendsOf(withoutSelector, [], [slice({ endpoints: endpoints.slice(1, 2) })]), ['10.244.0.3:8080']);
  assert.deepEqual(backendsOf(withoutSelector, [], [slice({ endpoints, ports: [{ name: 'other', port: 1 }] })]), []);
  assert.deepEqual(backendsOf(withoutSelector, [], [slice({ endpoints, addressType: 'IPv6' })]), []);
});

test('N26 a node port is on the addresses of the nodes and on loopback, and nowhere else', () => {
  const ports = [
    { name: 'http', port: 80, nodePort: 30_080 },
    { name: 'dns', port: 53, protocol: 'UDP', nodePort: 30_053 },
  ];
  const known = serviceBackends(service({ type: 'NodePort', ports }), [], []);
  assert.deepEqual(
    serviceFrontends(known, nodes).map(({ protocol, address, port }) => `${protocol} ${address}:${port}`),
    [
      'TCP 10.96.0.7:80',
      'TCP 10.244.0.1:30080',
      'TCP 127.0.0.1:30080',
      'UDP 10.96.0.7:53',
      'UDP 10.244.0.1:30053',
      'UDP 127.0.0.1:30053',
    ],
  );
  assert.deepEqual(serviceFrontends(serviceBackends(service({ clusterIP: 'None' }), [], []), nodes), []);
});

test('N25 session affinity lasts as long as the service says, three hours by default', () => {
  const affinity = (spec: Service['spec']) => serviceBackends(service(spec), [], []).affinityMs;
  assert.equal(affinity({}), undefined);
  assert.equal(affinity({ sessionAffinity: 'ClientIP' }), 10_800_000);
  const sessionAffinityConfig = { clientIP: { timeoutSeconds: 5 } };
  assert.equal(affinity({ sessionAffinity: 'ClientIP', sessionAffinityConfig }), 5_000);
});

test('N26 with externalTrafficPolicy Local a node port leads to the pods of its node, and on loopback to all', () => {
  const spec = { type: 'NodePort', externalTrafficPolicy: 'Local', ports: [{ port: 80, nodePort: 30_080 }] };
  const known = serviceBackends(service(spec), [pod('a', '10.244.0.2')], []);
  const both = [...nodes, { name: 'node-b', address: '10.244.1.1' }];
  assert.deepEqual(
    serviceFrontends(known, both).map(({ address, backends }) => `${address} ${backends.length}`),
    ['10.96.0.7 1', '10.244.0.1 1', '10.244.1.1 0', '127.0.0.1 1'],
  );
});

test('N33 host ports are those of a pod that has an address, on its node and on loopback', () => {
  const ports = [
    { containerPort: 8080, hostPort: 80 },
    { containerPort: 9090, hostPort: 90, hostIP: '127.0.0.1', protocol: 'UDP' },
    { containerPort: 7070, hostPort: 70, hostIP: '192.0.2.1' },
    { containerPort: 6060 },
  ];
  const known = { ...pod('a', '10.244.0.2'), spec: { nodeName: 'node-a', containers: [{ name: 'main', ports }] } };
  assert.deepEqual(
    hostPortFrontends(hostPorts(known), nodes).map(
      ({ protocol, address, port, backends }) => `${protocol} ${address}:${port} ${backends[0]?.port}`,
    ),
    ['TCP 10.244.0.1:80 8080', 'TCP 127.0.0.1:80 8080', 'UDP 127.0.0.1:90 9090'],
  );
  assert.deepEqual(hostPorts({ ...known, status: { ...known.status, phase: 'Failed' } }), []);
});
