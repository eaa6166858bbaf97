import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memoryKeyspace } from '@castellan/keyspace';
import { realWorld } from '@castellan/world';
import { ServiceAddresses } from '../src/strategies/service-addresses.js';
import { startServer } from './server-under-test.js';

const services = '/api/v1/namespaces/default/services';
const port = { port: 80 };

test('services get addresses of their own, which stay theirs over a restart', async () => {
  const first = await startServer();
  const addresses = new Set<string>();
  for (let index = 0; index < 20; index += 1) {
    const { json } = await first.send('POST', services, { metadata: { name: `s${index}` }, spec: { ports: [port] } });
    addresses.add(json.spec.clusterIP);
    assert.match(json.spec.clusterIP, /^10\.96\./);
    assert.equal(json.spec.ports[0].targetPort, 80);
  }
  assert.equal(addresses.size, 20);
  const { json: kept } = await first.send('GET', `${services}/s0`);
  const { clusterIP } = kept.spec;
  await first.server.close();
  const second = await startServer({ keyspace: first.keyspace });
  const stolen = await second.send('POST', services, {
    metadata: { name: 'thief' },
    spec: { ports: [port], clusterIP },
  });
  assert.equal(stolen.status, 422);
  assert.match(stolen.json.message, /provided IP is already allocated/);
  await second.send('DELETE', `${services}/s0`);
  const reused = await second.send('POST', services, {
    metadata: { name: 'heir' },
    spec: { ports: [port], clusterIP },
  });
  assert.equal(reused.status, 201);
  await second.stop();
  await first.stop();
});

test('a headless service has no address, and an address does not change', async () => {
  const api = await startServer();
  const headless = await api.send('POST', services, {
    metadata: { name: 'h' },
    spec: { clusterIP: 'None', selector: { a: 'b' } },
  });
  assert.deepEqual(headless.json.spec.clusterIPs, ['None']);
  const { json: own } = await api.send('GET', `${services}/kubernetes`);
  assert.equal(own.spec.clusterIP, '10.96.0.1');
  const merge = { 'content-type': 'application/merge-patch+json' };
  const moved = await api.send('PATCH', `${services}/h`, { spec: { clusterIP: '10.96.0.9' } }, merge);
  assert.equal(moved.status, 422);
  assert.match(moved.json.message, /may not change once set/);
  const { json: updated } = await api.send('PUT', `${services}/kubernetes`, {
    ...own,
    spec: { ports: own.spec.ports },
  });
  assert.equal(updated.spec.clusterIP, '10.96.0.1');
  await api.stop();
});

test('an address that a killed server held for a service that was never written is found when the range is full', async () => {
  const world = realWorld();
  const keyspace = memoryKeyspace(world);
  const addresses = new ServiceAddresses({ keyspace, world, cidr: '10.0.0.0/29' });
  const nobody = () => Promise.resolve(false);
  const held = [];
  for (let index = 0; index < 5; index += 1) held.push(await addresses.holdAny(`default/s${index}`, nobody));
  assert.deepEqual([...held].sort(), ['10.0.0.2', '10.0.0.3', '10.0.0.4', '10.0.0.5', '10.0.0.6']);
  assert.equal(await addresses.holdAny('default/one-more', nobody), undefined);
  const later = { ...world, clock: { ...world.clock, now: () => world.clock.now() + 61_000 } };
  const restarted = new ServiceAddresses({ keyspace, world: later, cidr: '10.0.0.0/29' });
  const isThere = (owner: string) => Promise.resolve(owner !== 'default/s3');
  assert.equal(await restarted.holdAny('default/one-more', isThere), held[3]);
  await keyspace.close();
});

test('what only the old type of a service had goes with the type', async () => {
  const api = await startServer();
  const spec = { ports: [{ port: 80 }], type: 'NodePort' };
  const created = await api.send('POST', services, { metadata: { name: 'outward' }, spec });
  assert.equal(created.json.spec.externalTrafficPolicy, 'Cluster', created.text);
  const merge = { 'content-type': 'application/merge-patch+json' };
  const inward = await api.send('PATCH', `${services}/outward`, { spec: { type: 'ClusterIP' } }, merge);
  assert.equal(inward.status, 200, inward.text);
  assert.equal('externalTrafficPolicy' in inward.json.spec, false);
  const named = await api.send('PATCH', `${services}/outward`, { spec: { externalTrafficPolicy: 'Local' } }, merge);
  assert.match(named.json.message, /may only be set for externally-accessible services/);
  await api.stop();
});

test('a service at the nodes gets ports of its own, keeps them over updates, and gives them back with its type', async () => {
  const api = await startServer();
  const merge = { 'content-type': 'application/merge-patch+json' };
  const spec = { type: 'NodePort', ports: [{ name: 'a', port: 80 }] };
  const first = await api.send('POST', services, { metadata: { name: 'n1' }, spec });
  const [port] = first.json.spec.ports;
  assert.ok(port.nodePort >= 30_086 && port.nodePort <= 32_767, first.text);
  const named = { metadata: { name: 'n2' }, spec: { type: 'NodePort', ports: [{ port: 1, nodePort: port.nodePort }] } };
  const taken = await api.send('POST', services, named);
  assert.equal(
    taken.json.message,
    `Service "n2" is invalid: spec.ports[0].nodePort: Invalid value: ${port.nodePort}: provided port is already allocated`,
  );
  const replaced = await api.send('PUT', `${services}/n1`, { metadata: { name: 'n1' }, spec });
  assert.equal(replaced.json.spec.ports[0].nodePort, port.nodePort, replaced.text);
  const inward = await api.send('PATCH', `${services}/n1`, { spec: { type: 'ClusterIP' } }, merge);
  assert.equal(inward.json.spec.ports[0].nodePort, undefined, inward.text);
  const heir = await api.send('POST', services, named);
  assert.equal(heir.status, 201, heir.text);
  await api.stop();
});

test('TCP and UDP of one port share a port of the nodes, and a balanced service that wants to see its clients gets one to be checked at', async () => {
  const api = await startServer();
  const ports = [
    { name: 'a', port: 53 },
    { name: 'b', port: 53, protocol: 'UDP' },
  ];
  const dns = await api.send('POST', services, { metadata: { name: 'dns' }, spec: { type: 'NodePort', ports } });
  const [tcp, udp] = dns.json.spec.ports;
  assert.equal(tcp.nodePort, udp.nodePort, dns.text);
  const balanced = { type: 'LoadBalancer', externalTrafficPolicy: 'Local', ports: [port] };
  const seen = await api.send('POST', services, {
    metadata: { name: 'seen' },
    spec: { ...balanced, allocateLoadBalancerNodePorts: false },
  });
  assert.equal(seen.json.spec.ports[0].nodePort, undefined, seen.text);
  assert.ok(seen.json.spec.healthCheckNodePort >= 30_000, seen.text);
  await api.stop();
});

test('a service that is refused, or whose name is taken, takes neither an address nor a port', async () => {
  const api = await startServer();
  const spec = { type: 'NodePort', clusterIP: '10.96.7.7', ports: [{ port: 80, nodePort: 31_000 }] };
  const refused = await api.send('POST', services, {
    metadata: { name: 'a' },
    spec: { ...spec, sessionAffinity: 'Odd' },
  });
  assert.equal(refused.status, 422);
  const created = await api.send('POST', services, { metadata: { name: 'a' }, spec });
  assert.equal(created.status, 201, created.text);
  const again = await api.send('POST', services, { metadata: { name: 'a' }, spec: { ports: [port] } });
  assert.equal(again.json.reason, 'AlreadyExists', again.text);
  const thief = await api.send('POST', services, { metadata: { name: 'b' }, spec: { ...spec, clusterIP: '' } });
  assert.match(thief.json.message, /provided port is already allocated/);
  const { json } = await api.send('GET', '/apis/networking.k8s.io/v1/ipaddresses/10.96.7.7');
  assert.deepEqual(json.spec.parentRef, { resource: 'services', namespace: 'default', name: 'a' });
  const all = await api.send('GET', '/apis/networking.k8s.io/v1/ipaddresses');
  assert.deepEqual(
    all.json.items.map((item: { metadata: { name: string } }) => item.metadata.name),
    ['10.96.0.1', '10.96.7.7'],
  );
  await api.stop();
});

test('a service that becomes a name elsewhere gives back its address, and gets one when it returns', async () => {
  const api = await startServer();
  const merge = { 'content-type': 'application/merge-patch+json' };
  const made = await api.send('POST', services, {
    metadata: { name: 'a' },
    spec: { clusterIP: '10.96.8.8', ports: [port] },
  });
  assert.equal(made.status, 201, made.text);
  const named = { spec: { type: 'ExternalName', externalName: 'db.example.com' } };
  const away = await api.send('PATCH', `${services}/a`, named, merge);
  assert.deepEqual([away.json.spec.clusterIP, away.json.spec.clusterIPs], [undefined, undefined], away.text);
  const heir = await api.send('POST', services, {
    metadata: { name: 'b' },
    spec: { clusterIP: '10.96.8.8', ports: [port] },
  });
  assert.equal(heir.status, 201, heir.text);
  const back = await api.send('PATCH', `${services}/a`, { spec: { type: 'ClusterIP' } }, merge);
  assert.match(back.json.spec.clusterIP, /^10\.96\./);
  assert.equal(back.json.spec.externalName, undefined);
  await api.stop();
});

test('an event in core/v1 is of its own namespace, and has what Go writes without a value', async () => {
  const api = await startServer();
  const events = '/api/v1/namespaces/default/events';
  const event = (name: string, namespace: string) => ({
    metadata: { name },
    involvedObject: { kind: 'Pod', name: 'x', namespace },
    reason: 'Why',
  });
  const created = await api.send('POST', events, event('a', 'default'));
  assert.equal(created.status, 201, created.text);
  assert.equal(created.json.eventTime, null);
  assert.deepEqual(created.json.source, {});
  const refused = await api.send('POST', events, event('b', 'other'));
  assert.match(
    refused.json.message,
    /involvedObject.namespace: Invalid value: "other": does not match event.namespace/,
  );
  await api.stop();
});
