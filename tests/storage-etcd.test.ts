import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Client } from '@castellan/client';
import { configMaps, isStatusError } from '@castellan/machinery';
import { waitFor } from '@castellan/world';
import { castellan, PlaneProcess, world } from './plane-process.js';
import { etcdMissing, RealEtcd } from './real-etcd.js';

const namespace = 'default';

describe('castellan up --storage etcd://…', { skip: etcdMissing }, () => {
  let etcd: RealEtcd;
  let one: PlaneProcess;
  let two: PlaneProcess;
  const up = (plane: PlaneProcess) =>
    plane.up(['--no-node', '--operators', 'none', '--storage', `etcd://${etcd.endpoint}`]);

  before(async () => {
    etcd = await RealEtcd.start();
    one = await PlaneProcess.create();
    two = await PlaneProcess.create();
    await up(one);
    await up(two);
  });
  after(async () => {
    await one?.remove();
    await two?.remove();
    await etcd?.remove();
  });

  test('a Kubernetes engineer finds the objects with etcdctl where kube-apiserver keeps them', async () => {
    await one.apply({
      text: 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: here, namespace: default}\ndata: {a: "1"}\n',
    });
    const keys = (await etcd.etcdctl(['get', '--prefix', '/registry', '--keys-only'])).stdout.split('\n');
    for (const key of [
      '/registry/configmaps/default/here',
      '/registry/namespaces/default',
      '/registry/namespaces/kube-system',
      '/registry/services/specs/default/kubernetes',
    ]) {
      assert.ok(keys.includes(key), `${key} is not among ${keys.join(' ')}`);
    }
    const { stdout } = await etcd.etcdctl(['get', '--print-value-only', '/registry/configmaps/default/here']);
    assert.match(stdout, /"data":\{"a":"1"\}/);
  });

  test('what one of two planes has written, the other one reads at once', async () => {
    const clients = [await one.client(), await two.client()] as const;
    for (let round = 0; round < 50; round += 1) {
      const [writer, reader] = round % 2 === 0 ? clients : ([clients[1], clients[0]] as const);
      const name = `read-at-once-${round}`;
      const { metadata } = await writer.create(configMaps, { metadata: { namespace, name }, data: { round: name } });
      assert.equal((await reader.get(configMaps, { namespace, name })).data?.round, name);
      const { items } = await reader.list(configMaps, { namespace });
      assert.equal(
        items.find((item) => item.metadata.name === name)?.metadata.resourceVersion,
        metadata.resourceVersion,
      );
    }
  });

  test('of two planes that create or change one object at once, one does', async () => {
    const clients = [await one.client(), await two.client()];
    const name = 'contended';
    const created = await Promise.allSettled(
      clients.map((client) => client.create(configMaps, { metadata: { namespace, name }, data: { count: '0' } })),
    );
    assert.deepEqual(created.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
    const increments = 40;
    await Promise.all(clients.map((client) => repeat(increments, () => increment(client, name))));
    for (const client of clients) {
      assert.equal((await client.get(configMaps, { namespace, name })).data?.count, String(2 * increments));
    }
  });

  test('a watch on one plane sees what is written through the other, once and in order, also while etcd restarts', async () => {
    const [watching, writing] = [await one.client(), await two.client()];
    const { metadata } = await watching.list(configMaps, { namespace });
    const seen: string[] = [];
    const stop = new AbortController();
    const watch = collect(watching, metadata.resourceVersion ?? '', seen, stop.signal);
    const written: string[] = [];
    for (let number = 0; number < 30; number += 1) {
      if (number === 15) {
        await etcd.kill();
        await etcd.start();
      }
      const name = `watched-${number}`;
      await createSurely(writing, name);
      written.push(name);
    }
    await waitFor(world, () => seen.length >= written.length, {
      what: () => `${written.length} events, of which ${seen.length} came`,
      deadlineMs: 20_000,
    });
    stop.abort();
    await watch;
    assert.deepEqual(seen, written);
  });

  test('a plane that is killed leaves everything to the other one, and comes back to it', async () => {
    const name = 'left-behind';
    await (await one.client()).create(configMaps, { metadata: { namespace, name } });
    await one.kill();
    const client = await two.client();
    assert.equal((await client.get(configMaps, { namespace, name })).metadata.name, name);
    await client.delete(configMaps, { namespace, name });
    await up(one);
    assert.equal(await (await one.client()).find(configMaps, { namespace, name }), undefined);
  });
});

for (const detach of [[], ['--detach']]) {
  test(`an etcd that does not answer is one clear error, status 7, within 10 s ${detach.join('')}`, async () => {
    const plane = await PlaneProcess.create();
    try {
      const startedMs = world.clock.monotonicNow();
      const { code, stderr } = await castellan([
        ...['up', ...detach, '--data-dir', plane.directory, '--port', '0', '--no-node', '--operators', 'none'],
        // Nobody listens on port 1.
        ...['--storage', 'etcd://127.0.0.1:1'],
      ]);
      assert.equal(code, 7, stderr);
      assert.match(stderr, /etcd at 127\.0\.0\.1:1 does not answer: connect ECONNREFUSED 127\.0\.0\.1:1\./);
      assert.match(stderr, /check that etcd runs there/);
      assert.ok(world.clock.monotonicNow() - startedMs < 10_000);
    } finally {
      await plane.remove();
    }
  });
}

async function repeat(times: number, work: () => Promise<void>): Promise<void> {
  for (let time = 0; time < times; time += 1) await work();
}

/** Adds one, and begins again whenever somebody else was faster. */
async function increment(client: Client, name: string): Promise<void> {
  await waitFor(
    world,
    async () => {
      const present = await client.get(configMaps, { namespace, name });
      const data = { count: String(Number(present.data?.count) + 1) };
      try {
        await client.update(configMaps, { ...present, data });
        return true;
      } catch (error) {
        if (isStatusError(error) && error.reason === 'Conflict') return false;
        throw error;
      }
    },
    { what: `an increment of ${name} that nobody overtakes`, deadlineMs: 20_000, everyMs: 1 },
  );
}

/** A create whose fate is not known is made again; that it is there already then is as good. */
async function createSurely(client: Client, name: string): Promise<void> {
  await waitFor(
    world,
    async () => {
      try {
        await client.create(configMaps, { metadata: { namespace, name } });
        return true;
      } catch (error) {
        return isStatusError(error) && error.reason === 'AlreadyExists';
      }
    },
    { what: `${name} to be created`, deadlineMs: 20_000 },
  );
}

async function collect(client: Client, resourceVersion: string, seen: string[], signal: AbortSignal): Promise<void> {
  try {
    for await (const { type, object } of client.watch(configMaps, { namespace, resourceVersion, signal })) {
      if (type === 'ADDED') seen.push(object.metadata.name ?? '');
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
