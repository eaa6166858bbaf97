import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ConfigMap, configMaps } from '@castellan/machinery';
import { simulatedWorld } from '@castellan/world';
import { type Controller, createLog, createManager, runOperator, type Webhook, webhook } from '../src/index.js';
import { FakeCluster } from './fake-cluster.js';

const secret = { namespace: 'default', name: 'webhooks' };

test('WH10, 72: webhooks begin before the caches, and answer until the reconciles have ended', async () => {
  const world = simulatedWorld(1);
  const client = new FakeCluster();
  await client.create(configMaps, { metadata: { namespace: 'default', name: 'a' } });
  // Whoever serves looks for new certificates every second.
  const looks = () => client.requests('GET /api/v1/namespaces/default/secrets/webhooks').length;
  let looksAfterStop = 0;
  let isReconciling = false;
  const controller: Controller<ConfigMap> = {
    name: 'test',
    for: configMaps,
    async reconcile(_key, { signal }) {
      isReconciling = true;
      await world.clock.sleep(50_000, signal).catch(() => undefined);
      const before = looks();
      await world.clock.sleep(3_000);
      looksAfterStop = looks() - before;
      return undefined;
    },
  };
  const manager = createManager({
    client,
    world,
    log: createLog({ write: () => undefined, world }),
    controllers: [controller],
    namespace: 'default',
    webhooks: { name: 'test', endpoint: { host: '127.0.0.1' }, port: 0, certificates: { secret, everyMs: 1_000 } },
  });
  const stop = new AbortController();
  const ended = manager.run(stop.signal);
  ended.catch(() => undefined);
  assert.equal(manager.status().areWebhooksReady, false);
  await world.run(manager.ready(), 5_000);
  assert.equal(manager.status().areWebhooksReady, true);
  const firsts = [
    'GET /api/v1/namespaces/default/secrets/webhooks',
    'POST /api/v1/namespaces/default/secrets',
    'WATCH',
  ];
  const places = firsts.map((first) => client.calls.findIndex((call) => call.startsWith(first)));
  assert.deepEqual(
    places.toSorted((one, other) => one - other),
    places,
  );
  assert.ok(!places.includes(-1), `${client.calls}`);
  await world.advance(0);
  assert.equal(isReconciling, true);
  stop.abort(new Error('stop'));
  await world.run(ended, 60_000);
  assert.equal(looksAfterStop, 2);
  assert.deepEqual(client.openWatches, []);
  assert.equal(world.pendingTimers, 0);
});

test('an operator with webhooks that nobody can reach is not started: it is said how to tell', async () => {
  const world = simulatedWorld(1);
  const webhooks: readonly Webhook[] = [webhook(configMaps, { validate: () => undefined })];
  const operator = { name: 'test', customResourceDefinitions: [], controllers: [], webhooks };
  const client = new FakeCluster();
  const log = createLog({ write: () => undefined, world });
  await assert.rejects(
    runOperator({ operator, client, world, log }, new AbortController().signal),
    /the operator test has webhooks, .* give runOperator `webhooks: \{ endpoint: \{ service: … \} \}`/,
  );
  assert.deepEqual(client.calls, []);
});
