import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ConfigMap, configMaps, type Pod, pods } from '@castellan/machinery';
import { realWorld, waitFor } from '@castellan/world';
import {
  type Controller,
  createLog,
  createManager,
  ensureObject,
  type ManagerOptions,
  ownerReferenceFor,
} from '../src/index.js';
import { FakeCluster } from './fake-cluster.js';

const world = realWorld();

function configMap(name: string, data: Readonly<Record<string, string>> = {}): ConfigMap {
  return { metadata: { namespace: 'default', name }, data };
}

const log = createLog({ write: () => undefined, world });

async function withManager(
  options: Pick<ManagerOptions, 'controllers'> & Partial<ManagerOptions> & { readonly client: FakeCluster },
  use: (manager: ReturnType<typeof createManager>) => Promise<void>,
): Promise<void> {
  const manager = createManager({ wholeCache: true, world, log, ...options });
  const stop = new AbortController();
  const ended = manager.run(stop.signal);
  ended.catch(() => undefined);
  try {
    await use(manager);
  } finally {
    stop.abort(new Error('the test is over'));
    await ended;
  }
  assert.deepEqual(options.client.openWatches, [], '77: nothing is left open');
}

function until(what: string, condition: () => boolean): Promise<unknown> {
  return waitFor(world, condition, { what, deadlineMs: 30_000, everyMs: 1 });
}

/** A pod per config map, as an operator would make it. */
const podPerConfigMap: Controller<ConfigMap> = {
  name: 'pod-per-config-map',
  for: configMaps,
  owns: [pods],
  async reconcile(key, { client, cache }) {
    const object = cache.get(configMaps, key);
    if (object === undefined) return undefined;
    const desired: Pod = {
      metadata: { namespace: 'default', name: key.name, ownerReferences: [ownerReferenceFor(object, configMaps)] },
      spec: { containers: [{ name: 'main', image: object.data?.image ?? 'none' }] },
    };
    const existing = cache.ownedBy(pods, object.metadata.uid ?? '')[0];
    await ensureObject(client, pods, desired, existing === undefined ? {} : { existing });
    return undefined;
  },
};

test('makes what is owned, corrects it when it is changed, makes it anew when it is deleted, and is then still', async () => {
  const client = new FakeCluster();
  await client.create(configMaps, configMap('a', { image: 'one' }));
  await withManager({ client, controllers: [podPerConfigMap] }, async (manager) => {
    await manager.ready();
    const image = (): string | undefined =>
      manager.cache.get(pods, { namespace: 'default', name: 'a' })?.spec?.containers[0]?.image;
    await until('the pod', () => image() === 'one');
    await client.patch(
      configMaps,
      { namespace: 'default', name: 'a' },
      { type: 'merge', body: { data: { image: 'two' } } },
    );
    await until('the pod to follow', () => image() === 'two');
    await client.delete(pods, { namespace: 'default', name: 'a' });
    await until('a second pod', () => client.requests('POST /api/v1/namespaces/default/pods').length === 2);
    await until('all to be still', () =>
      manager.status().controllers.every(({ running, waiting }) => running + waiting === 0),
    );
    assert.equal(client.requests('PATCH').length, 2);
    assert.match(manager.status().controllers[0]?.keys[0]?.trigger ?? '', /default\/a was|changed while/);
  });
});
