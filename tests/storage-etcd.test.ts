import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Client, connect, loadKubeconfig } from '@castellan/client';
import { configMaps, isStatusError, leases, namespaces, serviceAccounts, services } from '@castellan/machinery';
import { waitFor } from '@castellan/world';
import { castellan, PlaneProcess, world } from './plane-process.js';
import { etcdMissing, RealEtcd } from './real-etcd.js';

const namespace = 'default';
const json = { 'content-type': 'application/json' };

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

  test('a watch on one plane sees what is written through the other, once and in order, also while etcd restarts', async (t) => {
    const [watching, writing] = [await one.client(), await two.client()];
    const { metadata } = await watching.list(configMaps, { namespace });
    const seen: string[] = [];
    const stop = new AbortController();
    t.after(() => stop.abort());
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
      deadlineMs: 60_000,
    });
    stop.abort();
    await watch;
    assert.deepEqual(seen, written);
  });

  test('a client of one plane is a client of the other: authority, tokens and service addresses are shared', async () => {
    const config = await loadKubeconfig(one.kubeconfig);
    const { server, caCertificate = '' } = await loadKubeconfig(two.kubeconfig);
    assert.equal(caCertificate, config.caCertificate);
    const admin = connect({ ...config, server }, { world });
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts/default/token`;
    const issued = await admin.request({ method: 'POST', path, headers: json, body: '{"spec":{}}' });
    const { status } = JSON.parse(await textOf(issued)) as { status: { token: string } };
    await admin.close();
    const account = connect({ server: config.server, caCertificate, token: status.token }, { world });
    const review = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
    const reply = await account.request({ method: 'POST', path: review, headers: json, body: '{}' });
    assert.match(await textOf(reply), /"username":"system:serviceaccount:default:default"/);
    await account.close();
    const clients = [await one.client(), await two.client()];
    const addresses = await Promise.all(
      clients.map(async (client, index) => {
        const spec = { ports: [{ port: 80 }] };
        const service = await client.create(services, { metadata: { namespace, name: `shared-${index}` }, spec });
        return String(service.spec?.clusterIP).split('.').slice(0, 2).join('.');
      }),
    );
    assert.equal(addresses[0], addresses[1]);
  });

  test('the controllers of one plane act; when it is killed, those of the other take over', {
    timeout: 150_000,
  }, async () => {
    const planes = [one, two];
    const client = async (plane: PlaneProcess | undefined) => await (plane ?? one).client();
    const lease = { namespace: 'kube-system', name: 'castellan-controllers' };
    const holder = async (reader: Client) => (await reader.find(leases, lease))?.spec?.holderIdentity ?? '';
    const reader = await client(one);
    const first = await waitFor(world, async () => (await holder(reader)) || undefined, {
      what: 'the controllers of a plane to lead',
      deadlineMs: 60_000,
    });
    // The leader's own log says who it is.
    const leader = await waitFor(world, () => indexOfLog(planes, `leading: ${first}`), {
      what: `the log of ${first} to say that it leads`,
      deadlineMs: 30_000,
    });
    const standby = planes[1 - leader];
    await planes[leader]?.kill();
    const left = await client(standby);
    const name = 'made-while-nobody-led';
    await left.create(namespaces, { metadata: { name } });
    await waitFor(world, () => left.find(serviceAccounts, { namespace: name, name: 'default' }), {
      what: 'the default service account, made by the controllers of the plane that is left',
      deadlineMs: 60_000,
    });
    assert.notEqual(await holder(left), first);
    await up(planes[leader] ?? one);
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
  test(`an etcd that does not answer is one clear error, status 7 ${detach.join('')}`, async () => {
    const plane = await PlaneProcess.create();
    try {
      const { code, stderr } = await castellan([
        ...['up', ...detach, '--data-dir', plane.directory, '--port', '0', '--no-node', '--operators', 'none'],
        // Nobody listens on port 1.
        ...['--storage', 'etcd://127.0.0.1:1'],
      ]);
      assert.equal(code, 7, stderr);
      assert.match(stderr, /etcd at 127\.0\.0\.1:1 does not answer: connect ECONNREFUSED 127\.0\.0\.1:1\./);
      assert.match(stderr, /check that etcd runs there/);
    } finally {
      await plane.remove();
    }
  });
}

/** Of the first plane whose log says this. */
async function indexOfLog(planes: readonly PlaneProcess[], text: string): Promise<number | undefined> {
  const logs = await Promise.all(planes.map((plane) => plane.log()));
  const index = logs.findIndex((log) => log.includes(text));
  return index < 0 ? undefined : index;
}

async function textOf({ body }: { readonly body: AsyncIterable<Uint8Array> }): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
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
    { what: `an increment of ${name} that nobody overtakes`, deadlineMs: 60_000, everyMs: 1 },
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
    { what: `${name} to be created`, deadlineMs: 60_000 },
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
