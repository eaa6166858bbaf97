import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memoryKeyspace } from '@castellan/keyspace';
import { realWorld, type World, waitFor } from '@castellan/world';
import { type ServerUnderTest, startServer } from './server-under-test.js';

const endpoints = '/api/v1/namespaces/default/endpoints';
const slices = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices';
const ofKubernetes = `${slices}?labelSelector=kubernetes.io/service-name%3Dkubernetes`;

/** A world in which the seconds between two looks are over at once. */
function hurriedWorld(): World {
  const world = realWorld();
  const after: World['clock']['after'] = (delayMs, callback) =>
    world.clock.after(delayMs === 10_000 || delayMs === 1000 ? 1 : delayMs, callback);
  return { ...world, clock: { ...world.clock, after } };
}

async function reads(server: ServerUnderTest, expected: readonly string[]): Promise<void> {
  const seen = async () => {
    const { json } = await server.send('GET', ofKubernetes);
    return json.items
      .map(
        (slice: { metadata: { name: string }; ports: { port: number }[]; endpoints: { addresses: string[] }[] }) =>
          `${slice.metadata.name} ${slice.ports[0]?.port} ${slice.endpoints.map(({ addresses }) => addresses.join()).join()}`,
      )
      .join('; ');
  };
  let last = '';
  await waitFor(
    server.world,
    async () => {
      last = await seen();
      return last === expected.join('; ');
    },
    { what: () => `slices ${expected.join('; ')}, of which there are ${last}`, deadlineMs: 10_000 },
  );
}

test('the API server names its own address in the Endpoints and the EndpointSlice of service kubernetes', async (t) => {
  const server = await startServer({ world: hurriedWorld() });
  t.after(() => server.stop());
  server.server.advertise({ address: '10.1.0.1', port: 6443 });
  await reads(server, ['kubernetes 6443 10.1.0.1']);
  const slice = (await server.send('GET', `${slices}/kubernetes`)).json;
  assert.deepEqual(slice.metadata.labels, { 'kubernetes.io/service-name': 'kubernetes' });
  assert.equal(slice.addressType, 'IPv4');
  assert.deepEqual(slice.endpoints, [{ addresses: ['10.1.0.1'], conditions: { ready: true } }]);
  assert.deepEqual(slice.ports, [{ name: 'https', port: 6443, protocol: 'TCP' }]);
  const object = (await server.send('GET', `${endpoints}/kubernetes`)).json;
  assert.deepEqual(object.metadata.labels, { 'endpointslice.kubernetes.io/skip-mirror': 'true' });
  assert.deepEqual(object.subsets, [
    { addresses: [{ ip: '10.1.0.1' }], ports: [{ name: 'https', port: 6443, protocol: 'TCP' }] },
  ]);
  await server.send('DELETE', `${slices}/kubernetes`);
  await reads(server, ['kubernetes 6443 10.1.0.1']);
});

test('of several API servers over one storage each is named, until it has ended', async (t) => {
  const world = hurriedWorld();
  const keyspace = memoryKeyspace(world);
  const stays = await startServer({ world, keyspace });
  t.after(() => stays.stop());
  stays.server.advertise({ address: '10.1.0.1', port: 6443 });
  const leaves = await startServer({ world, keyspace });
  t.after(() => leaves.stop());
  leaves.server.advertise({ address: '10.2.0.1', port: 6444 });
  await reads(stays, ['kubernetes 6443 10.1.0.1', 'kubernetes-6444 6444 10.2.0.1']);
  const { json } = await stays.send('GET', `${endpoints}/kubernetes`);
  assert.deepEqual(
    json.subsets.map(({ addresses, ports }: { addresses: { ip: string }[]; ports: { port: number }[] }) => [
      addresses[0]?.ip,
      ports[0]?.port,
    ]),
    [
      ['10.1.0.1', 6443],
      ['10.2.0.1', 6444],
    ],
  );
  await leaves.server.close();
  await reads(stays, ['kubernetes 6443 10.1.0.1']);
});

test('the last API server over a storage stays named when it has ended', async (t) => {
  const world = hurriedWorld();
  const keyspace = memoryKeyspace(world);
  const first = await startServer({ world, keyspace });
  t.after(() => first.stop());
  first.server.advertise({ address: '10.1.0.1', port: 6443 });
  await reads(first, ['kubernetes 6443 10.1.0.1']);
  await first.server.close();
  const second = await startServer({ world, keyspace });
  t.after(() => second.stop());
  await reads(second, ['kubernetes 6443 10.1.0.1']);
});

test('an API server that was killed is named no more when its registration has ended', async (t) => {
  const world = hurriedWorld();
  const keyspace = memoryKeyspace(world);
  const lease = await keyspace.grantLease(600);
  const registration = Buffer.from('{"address":"10.3.0.1","port":6443}');
  await keyspace.put(`/castellan/apiservers/${lease}`, registration, { ifRevision: 0, lease });
  const server = await startServer({ world, keyspace });
  t.after(() => server.stop());
  server.server.advertise({ address: '10.1.0.1', port: 6443 });
  await reads(server, ['kubernetes 6443 10.1.0.1,10.3.0.1']);
  await keyspace.revokeLease(lease);
  await reads(server, ['kubernetes 6443 10.1.0.1']);
});
