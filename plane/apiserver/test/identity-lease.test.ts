import assert from 'node:assert/strict';
import { test } from 'node:test';
import { realWorld, type World, waitFor } from '@castellan/world';
import { startServer } from './server-under-test.js';

const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases';
const label = 'apiserver.kubernetes.io/identity';

/** A world in which ten seconds are over at once. */
function hurriedWorld(): World {
  const world = realWorld();
  const after: World['clock']['after'] = (delayMs, callback) =>
    world.clock.after(delayMs === 10_000 ? 1 : delayMs, callback);
  return { ...world, clock: { ...world.clock, after } };
}

test('an API server keeps a lease by which others see it, and removes those of servers that are gone', async (t) => {
  const world = hurriedWorld();
  const server = await startServer({ world, identity: { name: 'one', hostName: 'here' } });
  t.after(() => server.stop());
  const stale = (name: string, renewTime: string) => ({
    metadata: { name, labels: { [label]: 'kube-apiserver' } },
    spec: { holderIdentity: name, leaseDurationSeconds: 3600, renewTime },
  });
  const now = new Date(world.clock.now()).toISOString().replace('Z', '000Z');
  for (const lease of [stale('gone', '2020-01-01T00:00:00.000000Z'), stale('alive', now)]) {
    assert.equal((await server.send('POST', leases, lease)).status, 201);
  }
  const names = async () => {
    const { json } = await server.send('GET', `${leases}?labelSelector=${label}`);
    return json.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name);
  };
  const left = await waitFor(
    world,
    async () => {
      const all: string[] = await names();
      return all.includes('gone') || all.length < 2 ? undefined : all;
    },
    { what: 'the lease of the server that is gone to be removed', deadlineMs: 10_000 },
  );
  assert.equal(left.length, 2);
  assert.ok(left.includes('alive'));
  const own = left.find((name) => name !== 'alive') ?? '';
  assert.match(own, /^apiserver-[0-9a-f]{26}$/);
  const first = (await server.send('GET', `${leases}/${own}`)).json;
  assert.equal(first.metadata.labels['kubernetes.io/hostname'], 'here');
  assert.match(first.spec.holderIdentity, new RegExp(`^${own}_`));
  assert.equal(first.spec.leaseDurationSeconds, 3600);
  await waitFor(
    world,
    async () => (await server.send('GET', `${leases}/${own}`)).json.spec.renewTime > first.spec.renewTime,
    { what: 'the lease to be renewed', deadlineMs: 10_000 },
  );
});
