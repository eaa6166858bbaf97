import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  type CustomResourceDefinition,
  configMaps,
  customResourceDefinitions,
  endpointSlices,
  endpoints,
  type KubernetesObject,
  namespaces,
  nodes,
  type Pod,
  pods,
  type ResourceType,
  services,
} from '@castellan/machinery';
import { ownerReferenceFor } from '@castellan/runtime';
import { type BootedPlane, bootPlane, eventually } from '../src/index.js';

// The plane's controllers and its scheduler against its API server, over HTTP; the node agent is played by the test.

const widgets: ResourceType = {
  group: 'example.com',
  version: 'v1',
  kind: 'Widget',
  plural: 'widgets',
  isNamespaced: true,
};
const soon = { deadlineMs: 30_000, everyMs: 5 };

let plane: BootedPlane;
before(async () => {
  plane = await bootPlane();
  await plane.client.create(customResourceDefinitions, definition);
  await eventually('the widgets are served', () => plane.client.list(widgets), soon);
});
after(() => plane.stop());

test('what belongs to a deleted custom resource is gone', async () => {
  const { client } = plane;
  const owner = await client.create(widgets, object('Widget', 'owner'));
  const ownerReferences = [ownerReferenceFor(owner, widgets)];
  await client.create(configMaps, { metadata: { namespace: 'default', name: 'owned', ownerReferences } });
  await client.create(services, {
    metadata: { namespace: 'default', name: 'owned', ownerReferences },
    spec: { ports: [{ port: 1 }] },
  });
  await client.create(pods, { ...pod('owned'), metadata: { namespace: 'default', name: 'owned', ownerReferences } });
  await client.delete(widgets, { namespace: 'default', name: 'owner' });
  for (const type of [configMaps, services, pods]) {
    await eventually(
      `${type.plural} owned is gone`,
      async () => !(await client.find<KubernetesObject>(type, keyOf('owned'))),
      soon,
    );
  }
});

test('a plane without controllers changes nothing by itself: no config map appears in a namespace', async () => {
  const bare = await bootPlane({ controllers: false });
  try {
    await bare.client.create(namespaces, { metadata: { name: 'quiet' } });
    await plane.client.create(namespaces, { metadata: { name: 'lively' } });
    const seen = ({ client }: BootedPlane, namespace: string) => client.list(configMaps, { namespace });
    const isPublished = async () => (await seen(plane, 'lively')).items.length > 0;
    await eventually('the other plane publishes its root certificate', isPublished, soon);
    assert.deepEqual((await seen(bare, 'quiet')).items, []);
  } finally {
    await bare.stop();
  }
});

test('in foreground the owner outlives what blocks it; orphans outlive their owner', async () => {
  const { client } = plane;
  for (const propagationPolicy of ['Foreground', 'Orphan'] as const) {
    const owner = await client.create(widgets, object('Widget', 'owner'));
    const ownerReferences = [ownerReferenceFor(owner, widgets)];
    const finalizers = ['example.com/held'];
    await client.create(configMaps, { metadata: { namespace: 'default', name: 'held', ownerReferences, finalizers } });
    await eventually('the collector knows the dependent', () => isCollected('probe', owner), soon);
    await client.delete(widgets, keyOf('owner'), { propagationPolicy });
    if (propagationPolicy === 'Foreground') {
      await eventually('the dependent is being deleted', async () => (await held()).metadata.deletionTimestamp, soon);
      assert.notEqual(await client.find(widgets, keyOf('owner')), undefined);
      await client.patch(configMaps, keyOf('held'), { type: 'merge', body: { metadata: { finalizers: null } } });
      await eventually('the owner is gone', async () => !(await client.find(widgets, keyOf('owner'))), soon);
    } else {
      await eventually('the owner is gone', async () => !(await client.find(widgets, keyOf('owner'))), soon);
      const { metadata } = await held();
      assert.deepEqual([metadata.ownerReferences, metadata.deletionTimestamp], [undefined, undefined]);
    }
  }

  function held() {
    return client.get(configMaps, keyOf('held'));
  }

  /** One more dependent of something that is not there: it goes only after the collector has seen all that came before. */
  async function isCollected(name: string, like: KubernetesObject): Promise<boolean> {
    const reference = { ...ownerReferenceFor(like, widgets), uid: 'not-there' };
    const metadata = { namespace: 'default', name, ownerReferences: [reference] };
    const exists = (await client.find(configMaps, keyOf(name))) !== undefined;
    if (!exists) await client.create(configMaps, { metadata });
    await eventually('the probe is gone', async () => !(await client.find(configMaps, keyOf(name))), soon);
    return true;
  }
});

test('a deleted namespace ends with all that is in it', async () => {
  const { client } = plane;
  await client.create(namespaces, { metadata: { name: 'team' } });
  await client.create(widgets, object('Widget', 'w', 'team'));
  await client.create(configMaps, { metadata: { namespace: 'team', name: 'c' } });
  await eventually('its pod can be created', () => client.create(pods, pod('p', 'team')), soon);
  await client.delete(namespaces, { name: 'team' });
  await eventually('the namespace is gone', async () => !(await client.find(namespaces, { name: 'team' })), soon);
  assert.deepEqual((await client.list(configMaps, { namespace: 'team' })).items, []);
});

test('a pod is told why it waits, gets a node when one is ready, and its address reaches the endpoints at once', async () => {
  const { client } = plane;
  const spec = { clusterIP: 'None', selector: { app: 'web' }, ports: [{ name: 'http', port: 80 }] };
  await client.create(services, { metadata: { namespace: 'default', name: 'web' }, spec });
  await eventually('the pod can be created', () => client.create(pods, pod('web-0')), soon);
  const reason = await eventually('the reason is told', () => conditionOf('web-0', 'PodScheduled'), soon);
  assert.equal(reason.message, 'no nodes available to schedule pods');

  await client.create(nodes, { metadata: { name: 'n1' } });
  const ready = {
    allocatable: { cpu: '4', memory: '8Gi', pods: '110' },
    conditions: [{ type: 'Ready', status: 'True' }],
  };
  await client.patch(nodes, { name: 'n1' }, { type: 'merge', body: { status: ready } }, { subresource: 'status' });
  await eventually(
    'the pod is bound',
    async () => (await client.get(pods, keyOf('web-0'))).spec?.nodeName === 'n1',
    soon,
  );

  for (const ip of ['10.0.0.7', '10.0.0.8']) {
    const status = { phase: 'Running', podIP: ip, podIPs: [{ ip }], conditions: [{ type: 'Ready', status: 'True' }] };
    await client.patch(pods, keyOf('web-0'), { type: 'merge', body: { status } }, { subresource: 'status' });
    await eventually(
      `${ip} is in the endpoints`,
      () => addressesOf('web').then((all) => all.join() === `${ip},${ip}`),
      soon,
    );
  }

  async function conditionOf(name: string, type: string) {
    return (await client.get(pods, keyOf(name))).status?.conditions?.find((condition) => condition.type === type);
  }

  async function addressesOf(service: string): Promise<readonly (string | undefined)[]> {
    const object = await client.get(endpoints, keyOf(service));
    const labelSelector = `kubernetes.io/service-name=${service}`;
    const slices = (await client.list(endpointSlices, { namespace: 'default', labelSelector })).items;
    return [object.subsets?.[0]?.addresses?.[0]?.ip, slices[0]?.endpoints[0]?.addresses[0]];
  }
});

const definition: CustomResourceDefinition = {
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    names: { plural: 'widgets', kind: 'Widget' },
    scope: 'Namespaced',
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
};

function object(kind: string, name: string, namespace = 'default'): KubernetesObject {
  return { apiVersion: 'example.com/v1', kind, metadata: { namespace, name } };
}

function pod(name: string, namespace = 'default'): Pod {
  return {
    metadata: { namespace, name, labels: { app: 'web' } },
    spec: { containers: [{ name: 'main', image: 'web' }] },
  };
}

function keyOf(name: string) {
  return { namespace: 'default', name };
}
