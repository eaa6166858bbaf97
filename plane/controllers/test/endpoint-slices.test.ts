import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EndpointSlice, Endpoints, Pod, Service } from '@castellan/machinery';
import fc from 'fast-check';
import { planSlices } from '../src/endpoints/endpoint-slices.js';
import { planEndpoints } from '../src/endpoints/endpoints-object.js';
import { type PodFacts, pod, service } from './service-objects.js';

test('a ready pod is an endpoint with its address, node and target', () => {
  const [slice] = planSlices(service(), [pod('etcd-0')], []).create;
  assert.equal(slice?.addressType, 'IPv4');
  assert.deepEqual(slice?.ports, [{ name: 'client', port: 2379, protocol: 'TCP' }]);
  assert.deepEqual(slice?.endpoints, [
    {
      addresses: ['10.0.0.1'],
      conditions: { ready: true, serving: true, terminating: false },
      nodeName: 'node',
      targetRef: { kind: 'Pod', namespace: 'default', name: 'etcd-0', uid: 'uid-etcd-0' },
    },
  ]);
  assert.deepEqual(slice?.metadata.labels, {
    app: 'etcd',
    'kubernetes.io/service-name': 'etcd',
    'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
  });
  assert.equal(slice?.metadata.ownerReferences?.[0]?.uid, 'uid-service');
});

test('ready, serving and terminating are told apart, and publishNotReadyAddresses makes every endpoint ready', () => {
  const conditionsOf = (of: Service, facts: PodFacts) =>
    planSlices(of, [pod('a', facts)], []).create[0]?.endpoints[0]?.conditions;
  assert.deepEqual(conditionsOf(service(), { isReady: false }), { ready: false, serving: false, terminating: false });
  assert.deepEqual(conditionsOf(service(), { isDeleted: true }), { ready: false, serving: true, terminating: true });
  const publishing = service({ publishNotReadyAddresses: true });
  assert.deepEqual(conditionsOf(publishing, { isReady: false, isDeleted: true }), {
    ready: true,
    serving: false,
    terminating: true,
  });
});

test('a headless service has the pods own names, those whose subdomain it is', () => {
  const headless = service({ clusterIP: 'None' });
  const hostnameOf = (facts: PodFacts) => planSlices(headless, [pod('a', facts)], []).create[0]?.endpoints[0]?.hostname;
  assert.equal(hostnameOf({ hostname: 'etcd-0', subdomain: 'etcd' }), 'etcd-0');
  assert.equal(hostnameOf({ hostname: 'etcd-0', subdomain: 'other' }), undefined);
  assert.equal(hostnameOf({ hostname: 'etcd-0' }), undefined);
  const subsets = planEndpoints(headless, [pod('a', { hostname: 'etcd-0', subdomain: 'etcd' })], undefined)?.subsets;
  assert.equal(subsets?.[0]?.addresses?.[0]?.hostname, 'etcd-0');
});

test('a named target port is what the pod calls so; pods that differ get slices of their own', () => {
  const named = service({ ports: [{ name: 'client', port: 2379, targetPort: 'etcd' }] });
  const pods = [pod('a', { containerPort: 1111 }), pod('b', { containerPort: 2222 }), pod('c', { portName: 'none' })];
  const slices = planSlices(named, pods, []).create;
  assert.deepEqual(
    slices.map((slice) => slice.ports?.map(({ port }) => port)),
    [[1111], [2222], []],
  );
  const subsets = planEndpoints(named, pods, undefined)?.subsets;
  assert.deepEqual(
    subsets?.map(({ ports }) => ports?.map(({ port }) => port)),
    [[1111], [2222]],
  );
});

test('finished pods, pods without an address and pods of others are no endpoints; the slice is there all the same', () => {
  const pods = [pod('a', { phase: 'Succeeded' }), pod('b', { ip: '' }), pod('c', { labels: { app: 'other' } })];
  const { create } = planSlices(service(), pods, []);
  assert.deepEqual(
    create.map(({ endpoints, ports }) => ({ endpoints, ports })),
    [{ endpoints: [], ports: [] }],
  );
  assert.deepEqual(planEndpoints(service(), pods, undefined)?.subsets, []);
});

test('a service of two families has slices of both', () => {
  const dual = service({ ipFamilies: ['IPv4', 'IPv6'] });
  const both = pod('a', { ip: '10.0.0.1', ipv6: 'fd00::1' });
  const { create } = planSlices(dual, [both, pod('b', { ip: '10.0.0.2' })], []);
  assert.deepEqual(
    create.map(({ addressType, endpoints }) => [addressType, ...endpoints.map(({ addresses }) => addresses[0])]),
    [
      ['IPv4', '10.0.0.1', '10.0.0.2'],
      ['IPv6', 'fd00::1'],
    ],
  );
});

test('when a pod gets another address one slice is updated, nothing else', () => {
  const before = planSlices(service(), [pod('a'), pod('b', { ip: '10.0.0.2' })], []).create;
  const { create, update, delete: deleted } = planSlices(service(), [pod('a'), pod('b', { ip: '10.0.0.9' })], before);
  assert.deepEqual([create, deleted], [[], []]);
  assert.deepEqual(
    update.map(({ endpoints }) => endpoints.map(({ addresses }) => addresses[0])),
    [['10.0.0.1', '10.0.0.9']],
  );
});

test('when the ports change the slice is turned into the new one', () => {
  const before = planSlices(service(), [pod('a')], []).create;
  const changed = service({ ports: [{ name: 'client', port: 1, targetPort: 2380 }] });
  const { create, update, delete: deleted } = planSlices(changed, [pod('a')], before);
  assert.deepEqual([create, deleted], [[], []]);
  assert.equal(update[0]?.ports?.[0]?.port, 2380);
});

test('slices of an earlier service of the same name are not taken over', () => {
  const before = planSlices(
    { ...service(), metadata: { ...service().metadata, uid: 'former' } },
    [pod('a')],
    [],
  ).create;
  const { create, update, delete: deleted } = planSlices(service(), [pod('a')], before);
  assert.deepEqual([create.length, update.length, deleted.length], [1, 0, 1]);
});

test('endpoints: not ready pods are listed apart, terminating ones only when published', () => {
  const pods = [pod('a'), pod('b', { ip: '10.0.0.2', isReady: false }), pod('c', { ip: '10.0.0.3', isDeleted: true })];
  const [subset] = planEndpoints(service(), pods, undefined)?.subsets ?? [];
  assert.deepEqual(
    subset?.addresses?.map(({ ip }) => ip),
    ['10.0.0.1'],
  );
  assert.deepEqual(
    subset?.notReadyAddresses?.map(({ ip }) => ip),
    ['10.0.0.2'],
  );
  const published = planEndpoints(service({ publishNotReadyAddresses: true }), pods, undefined)?.subsets;
  assert.deepEqual(
    published?.[0]?.addresses?.map(({ ip }) => ip),
    ['10.0.0.1', '10.0.0.2', '10.0.0.3'],
  );
});

const crowd = fc
  .uniqueArray(fc.integer({ min: 0, max: 400 }), { maxLength: 350 })
  .map((numbers) => numbers.map((number) => pod(`p${number}`, { ip: `10.0.${number >> 8}.${number & 255}` })));

test('whatever pods come and go: each is in one slice, no slice is over 100, and who stays does not move', () => {
  fc.assert(
    fc.property(fc.array(crowd, { minLength: 1, maxLength: 4 }), (crowds) => {
      let slices: readonly EndpointSlice[] = [];
      let endpoints: Endpoints | undefined;
      for (const pods of crowds) {
        const places = new Map(placesIn(slices));
        slices = applied(slices, planSlices(service(), pods, slices));
        const now = placesIn(slices);
        assert.deepEqual(now.map(([uid]) => uid).sort(), pods.map(({ metadata }) => metadata.uid).sort());
        for (const [uid, place] of now) assert.equal(place, places.get(uid) ?? place);
        for (const slice of slices) assert.ok(slice.endpoints.length <= 100);
        assert.equal(new Set(slices.map(({ metadata }) => metadata.name)).size, slices.length);

        const again = planSlices(service(), pods, slices);
        assert.deepEqual(again, { create: [], update: [], delete: [] }, 'a second plan changes nothing');
        endpoints = planEndpoints(service(), pods, endpoints) ?? endpoints;
        assert.equal(planEndpoints(service(), pods, endpoints), undefined, 'a second plan changes nothing');
      }
    }),
    { numRuns: 40 },
  );
});

test('the order of the pods does not matter', () => {
  fc.assert(
    fc.property(
      fc.shuffledSubarray(
        Array.from({ length: 12 }, (_, index) => index),
        { minLength: 12 },
      ),
      (order) => {
        const pods: readonly Pod[] = order.map((index) => pod(`p${index}`, { ip: `10.0.0.${index + 1}` }));
        const sorted = [...pods].sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1));
        assert.deepEqual(planSlices(service(), pods, []), planSlices(service(), sorted, []));
        assert.deepEqual(planEndpoints(service(), pods, undefined), planEndpoints(service(), sorted, undefined));
      },
    ),
  );
});

function applied(slices: readonly EndpointSlice[], changes: ReturnType<typeof planSlices>): readonly EndpointSlice[] {
  const updated = new Map(changes.update.map((slice) => [slice.metadata.name, slice]));
  return [
    ...slices
      .filter((slice) => !changes.delete.includes(slice))
      .map((slice) => updated.get(slice.metadata.name) ?? slice),
    ...changes.create,
  ];
}

function placesIn(slices: readonly EndpointSlice[]): readonly (readonly [string, string])[] {
  return slices.flatMap(({ metadata, endpoints }) =>
    endpoints.map(({ targetRef }) => [targetRef?.uid ?? '', metadata.name ?? ''] as const),
  );
}
