import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Client } from '@castellan/client';
import {
  configMaps,
  customResourceDefinitions,
  defineKind,
  events,
  findCondition,
  type KubernetesObject,
  keyOf,
  pods,
  type ReadOf,
  s,
  services,
} from '@castellan/machinery';
import {
  type Controller,
  cached,
  controller,
  createLog,
  createManager,
  metadataOf,
  settled,
  wait,
} from '@castellan/runtime';
import { realWorld } from '@castellan/world';
import { type BootedPlane, bootPlane, checkOperator, eventually, type OperatorScenario } from '../src/index.js';

// controller(Kind, …) against a real API server: what its simulated one cannot tell is how fields are owned, defaulted and stored.

const Memcached = defineKind({
  group: 'cache.example.com',
  version: 'v1',
  kind: 'Memcached',
  spec: s.object({ size: s.integer().default(1), greeting: s.string().optional() }),
  status: s.object({ ready: s.integer() }),
});
type Memcached = ReadOf<typeof Memcached>;

const soon = { deadlineMs: 30_000, everyMs: 5 };
const world = realWorld();

let plane: BootedPlane;
before(async () => {
  plane = await bootPlane();
  await plane.client.create(customResourceDefinitions, Memcached.crd);
  await eventually('Memcacheds are served', () => plane.client.list(Memcached), soon);
});
after(() => plane.stop());

function podOf({ metadata }: KubernetesObject, at: number) {
  const resources = { requests: { cpu: '1000m', memory: '1024Mi' } };
  const containers = [{ name: 'main', image: 'memcached', ports: [{ containerPort: 11_211 }], resources }];
  return { metadata: { name: `${metadata.name}-${at}`, labels: { app: 'memcached' } }, spec: { containers } };
}

const selectedPods = cached(pods, { labelSelector: 'app=memcached' });

/** Pods, a Service and a ConfigMap: with lists that have keys, quantities that are stored in another form, and defaults. */
function memcachedController(finalized: string[] = []): Controller<Memcached> {
  return controller(Memcached, {
    owns: [selectedPods, services, metadataOf(configMaps)],
    async reconcile(object, context) {
      const { spec } = object;
      for (let at = 0; at < spec.size; at += 1) await context.ensure(pods, podOf(object, at));
      await context.ensure(services, {
        metadata: { name: object.metadata.name ?? '' },
        spec: { selector: { app: 'memcached' }, ports: [{ port: 11_211 }] },
      });
      await context.ensure(configMaps, {
        metadata: { name: object.metadata.name ?? '' },
        data: { size: String(spec.size), ...(spec.greeting !== undefined && { greeting: spec.greeting }) },
      });
      const ready = context.owned(selectedPods).filter(({ status }) => status?.phase === 'Running').length;
      context.status({ ready });
      context.event({ type: 'Normal', reason: 'Looked', message: 'looked at it' });
      return ready === spec.size ? settled() : wait(`${ready} of ${spec.size} pods are ready`, 1_000);
    },
    async finalize({ metadata }) {
      finalized.push(metadata.name ?? '');
      return settled();
    },
  });
}

async function makeReady(client: Client, namespace: string): Promise<void> {
  for (const pod of (await client.list(pods, { namespace })).items) {
    if (pod.status?.phase === 'Running') continue;
    const patch = { type: 'merge', body: { status: { phase: 'Running' } } } as const;
    await client.patch(pods, keyOf(pod), patch, { subresource: 'status' });
  }
}

const key = { namespace: 'default', name: 'm' };

const scenario: OperatorScenario = {
  name: 'memcached',
  process: 'memcached',
  setUp: () => ({
    operators: [
      () => ({
        name: 'memcached',
        customResourceDefinitions: [Memcached.crd],
        controllers: [memcachedController()],
      }),
    ],
    nodes: 1,
  }),
  specs: {
    two: [Memcached.make(key, { size: 2 })],
    greeted: [Memcached.make(key, { size: 2, greeting: 'hello' })],
  },
  settled({ state }) {
    const found = state.get(Memcached, key);
    const { status, metadata } = found ?? { metadata: {} };
    const isReady = findCondition(status?.conditions, 'Ready')?.status === 'True';
    return isReady && status?.ready === 2 && status.observedGeneration === metadata.generation;
  },
  outcome: [Memcached, pods, services, configMaps],
  mayDiffer: { Pod: ['status'], Memcached: ['status'] },
  settleMs: 60_000,
};

test('a controller of objects passes the checks of any operator', async () => {
  const checks = ['second reconcile', 'crash at a write', 'read stale by one', 'event missed'] as const;
  const report = await checkOperator(scenario, { checks, atMost: 8 });
  assert.deepEqual(report.failures, [], String(report));
  for (const { check, results } of report.checks) assert.ok(results.length > 0, `${check} has no point`);
});

test('it gives up what it wants no more, takes back what was changed, and finalizes what is deleted', async (t) => {
  const { client } = plane;
  const finalized: string[] = [];
  const requests: string[] = [];
  const counted = new Proxy(client, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]) => {
        const [type] = args as Parameters<Client['patch']>;
        if (name === 'patch') requests.push(type.plural);
        return value.apply(target, args);
      };
    },
  });
  const log = createLog({ world, write: () => undefined });
  const stop = new AbortController();
  const manager = createManager({ client: counted, world, log, controllers: [memcachedController(finalized)] });
  const ended = manager.run(stop.signal);
  t.after(async () => {
    stop.abort(new Error('the test is over'));
    await ended;
  });
  await client.create(Memcached, Memcached.make(key, { size: 1, greeting: 'hello' }));
  const data = async () => (await client.find(configMaps, key))?.data;
  await eventually(
    'the config map',
    async () => assert.deepEqual(await data(), { size: '1', greeting: 'hello' }) ?? true,
    soon,
  );
  await client.patch(Memcached, key, { type: 'merge', body: { spec: { greeting: null } } });
  await eventually('the greeting is given up', async () => assert.deepEqual(await data(), { size: '1' }) ?? true, soon);
  await client.patch(configMaps, key, { type: 'merge', body: { data: { size: '7', theirs: 'x' } } });
  await eventually(
    'the size is taken back, and theirs stays',
    async () => assert.deepEqual(await data(), { size: '1', theirs: 'x' }) ?? true,
    soon,
  );
  await makeReady(client, key.namespace);
  await eventually(
    'it is settled',
    async () => findCondition((await client.get(Memcached, key)).status?.conditions, 'Ready')?.status === 'True',
    soon,
  );
  requests.length = 0;
  const reconciles = () => manager.status().controllers[0]?.reconciles ?? 0;
  const before = reconciles();
  await client.patch(Memcached, key, { type: 'merge', body: { metadata: { labels: { touched: 'yes' } } } });
  await eventually('it was reconciled once more', () => reconciles() > before, soon);
  assert.deepEqual(
    requests.filter((plural) => plural !== 'events'),
    [],
  );
  await eventually(
    'the event is there',
    async () => {
      const { items } = await client.list(events, { namespace: 'default' });
      return items.some(({ reason, involvedObject }) => reason === 'Looked' && involvedObject.name === key.name);
    },
    soon,
  );
  await client.delete(Memcached, key);
  await eventually('it is gone', async () => (await client.find(Memcached, key)) === undefined, soon);
  assert.ok(finalized.includes(key.name));
});
