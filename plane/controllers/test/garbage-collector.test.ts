import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  configMaps,
  customResourceDefinitions,
  events,
  type KubernetesObject,
  namespaces,
  type ObjectMeta,
  pods,
  type ResourceType,
  StatusError,
  services,
} from '@castellan/machinery';
import { realWorld, simulatedWorld, waitFor } from '@castellan/world';
import { garbageCollector } from '../src/garbage-collector/garbage-collector.js';
import { FakeApiServer } from './fake-api-server.js';

const clusters: ResourceType = {
  group: 'example.com',
  version: 'v1',
  kind: 'Cluster',
  plural: 'clusters',
  isNamespaced: true,
};
const definitions: ResourceType = customResourceDefinitions;
const quiet = () => undefined;
const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };

test('G6: what an owner leaves behind goes, and what that leaves behind after it', async (t) => {
  const server = await serverWith(clusters);
  const cluster = await server.add(clusters, named('etcd'));
  const service = await server.add(services, named('etcd-client', [cluster]));
  await server.add(pods, named('etcd-0', [cluster]));
  await server.add(configMaps, named('endpoints', [service]));
  await server.add(pods, named('bystander'));
  collect(server, t);
  await server.delete(clusters, { namespace: 'default', name: 'etcd' });
  await gone(server, pods, 'etcd-0');
  await gone(server, services, 'etcd-client');
  await gone(server, configMaps, 'endpoints');
  assert.deepEqual(server.namesOf(pods), ['default/bystander']);
});

test('G6: an owner that was gone before the start is noticed', async (t) => {
  const server = await serverWith(clusters);
  await server.add(pods, named('etcd-0', [absent('etcd')]));
  collect(server, t);
  await gone(server, pods, 'etcd-0');
});

test('G1: an owner of the same name that is another object is not the owner; a live one keeps its dependents', async (t) => {
  const server = await serverWith(clusters);
  const cluster = await server.add(clusters, named('etcd'));
  const former = { ...cluster, metadata: { ...cluster.metadata, uid: 'former' } };
  await server.add(pods, named('stale', [former]));
  await server.add(pods, named('live', [cluster]));
  collect(server, t);
  await gone(server, pods, 'stale');
  assert.deepEqual(server.namesOf(pods), ['default/live']);
});

test('G1: an owner that no watch has told of is found on the server, and its dependents stay', async (t) => {
  const server = await serverWith(clusters);
  const bodies: ResourceType = { ...clusters, kind: 'Body', plural: 'bodies' };
  collect(server, t);
  // Served, but discovery is asked only once a definition changes: the kind has no watch at first.
  server.serve(bodies);
  const body = await server.add(bodies, named('unseen'));
  await server.add(pods, named('dependent', [body]));
  await server.add(pods, named('orphan', [absent('x')]));
  await gone(server, pods, 'orphan');
  assert.ok(server.has(pods, { namespace: 'default', name: 'dependent' }));
});

test('G2: an object that changes while it is judged is judged anew', async (t) => {
  const server = await serverWith(clusters);
  const cluster = await server.add(clusters, named('etcd'));
  const adopter = await server.add(clusters, named('adopter'));
  await server.add(pods, named('etcd-0', [cluster]));
  collect(server, t);
  let isAdopted = false;
  server.beforeWrite = (write) => {
    if (write !== 'delete pods default/etcd-0 Background' || isAdopted) return;
    isAdopted = true;
    const body = { metadata: { ownerReferences: [referenceTo(adopter)] } };
    void server.patch(pods, { namespace: 'default', name: 'etcd-0' }, { type: 'merge', body });
  };
  await server.delete(clusters, { namespace: 'default', name: 'etcd' });
  await until('the pod is adopted while it is being judged', () => isAdopted);
  await server.add(pods, named('later', [absent('x')]));
  await gone(server, pods, 'later');
  assert.ok(server.has(pods, { namespace: 'default', name: 'etcd-0' }));
});

test('G3, G10: dependents of a kind that is not served stay; when the kind appears it is followed', async (t) => {
  const server = await serverWith();
  const cluster = { ...named('etcd'), apiVersion: 'example.com/v1', kind: 'Cluster' };
  const owner = { ...cluster, metadata: { ...cluster.metadata, uid: 'the-cluster' } };
  await server.add(pods, named('etcd-0', [owner]));
  collect(server, t);
  await until('the collector watches', () => server.openWatches > 5);
  await server.add(pods, named('orphan', [{ ...absent('x'), apiVersion: 'v1', kind: 'Pod' }]));
  await gone(server, pods, 'orphan');
  assert.ok(server.has(pods, { namespace: 'default', name: 'etcd-0' }));

  server.serve(clusters);
  await server.add(clusters, owner);
  const watches = server.openWatches;
  await server.add(definitions, { metadata: { name: 'clusters.example.com' } });
  await until('the new kind is watched', () => server.openWatches > watches);
  await server.delete(clusters, { namespace: 'default', name: 'etcd' });
  await gone(server, pods, 'etcd-0');
});

test('G10: a kind that is defined between discovery and the first list of definitions is followed', async (t) => {
  const server = await serverWith();
  const list = server.list.bind(server);
  server.list = async (type, options) => {
    if (type.plural === customResourceDefinitions.plural) server.serve(clusters);
    return list(type, options);
  };
  collect(server, t);
  await until('the new kind is watched', () => server.openWatches === 9);
});

test('G3, G10: a kind that goes is no longer watched, and what its objects own stays', async (t) => {
  const server = await serverWith(clusters);
  const cluster = await server.add(clusters, named('etcd'));
  await server.add(pods, named('etcd-0', [cluster]));
  collect(server, t);
  await until('the collector watches', () => server.openWatches === 9);
  server.withdraw(clusters);
  await server.add(definitions, { metadata: { name: 'changed' } });
  await until('the kind is no longer watched', () => server.openWatches === 8);
  await server.add(pods, named('later', [{ ...absent('x'), apiVersion: 'v1', kind: 'Pod' }]));
  await gone(server, pods, 'later');
  assert.ok(server.has(pods, { namespace: 'default', name: 'etcd-0' }));
});

test('G3, G10: a group whose discovery fails keeps its watches', async (t) => {
  const server = await serverWith(clusters);
  const cluster = await server.add(clusters, named('etcd'));
  await server.add(pods, named('etcd-0', [cluster]));
  collect(server, t);
  await until('the collector watches', () => server.openWatches === 9);
  server.brokenGroup = 'example.com';
  const others: ResourceType = { ...clusters, group: 'other.com', kind: 'Other', plural: 'others' };
  server.serve(others);
  await server.add(definitions, { metadata: { name: 'others.other.com' } });
  await until('the new kind is watched as well', () => server.openWatches === 10);
  await server.delete(clusters, { namespace: 'default', name: 'etcd' });
  await gone(server, pods, 'etcd-0');
});

test('G4: an owner in another namespace is told by an event and nothing is deleted while it exists', async (t) => {
  const server = await serverWith(clusters);
  const elsewhere = await server.add(clusters, { metadata: { namespace: 'other', name: 'etcd' } });
  await server.add(pods, named('etcd-0', [elsewhere]));
  collect(server, t);
  await until('the event is written', () => server.namesOf(events).length === 1);
  const [event] = (await server.list(events)).items;
  assert.equal(event?.reason, 'OwnerRefInvalidNamespace');
  assert.equal(event?.involvedObject.name, 'etcd-0');
  assert.ok(server.has(pods, { namespace: 'default', name: 'etcd-0' }));
  await server.delete(clusters, { namespace: 'other', name: 'etcd' });
  await gone(server, pods, 'etcd-0');
});

test('G4: a cluster-scoped object that names a namespaced owner is never deleted', async (t) => {
  const server = await serverWith(clusters);
  const owner = absent('x');
  await server.add(namespaces, { metadata: { name: 'kept', ownerReferences: [referenceTo(owner)] } });
  collect(server, t);
  await until('the event is written', () => server.namesOf(events).length === 1);
  assert.deepEqual(server.namesOf(namespaces), ['kept']);
});

test('G5: nothing is judged while a kind has not been listed', async (t) => {
  const server = await serverWith(clusters);
  const owner = absent('x');
  await server.add(pods, named('orphan', [owner]));
  const list = server.list.bind(server);
  let mayList = false;
  server.list = async (type, options) => {
    if (type.plural === 'clusters' && !mayList) throw StatusError.of('ServiceUnavailable', 'not yet');
    return list(type, options);
  };
  collect(server, t);
  await until('all other kinds are watched', () => server.openWatches === 8);
  assert.deepEqual(server.writes, []);
  mayList = true;
  await gone(server, pods, 'orphan');
});

test('G5: a kind that cannot be listed holds the others up for 10 s and no longer', async () => {
  const server = await serverWith(clusters);
  await server.add(pods, named('orphan', [absent('x')]));
  const list = server.list.bind(server);
  server.list = async (type, options) => {
    if (type.plural === 'secrets-of-others') throw StatusError.of('Forbidden', 'no');
    return list(type, options);
  };
  server.serve({ ...clusters, kind: 'Secret', plural: 'secrets-of-others' });
  const world = simulatedWorld(1);
  const stop = new AbortController();
  const running = garbageCollector({ client: server, world, log }).run(stop.signal);
  await world.advance(9_900);
  assert.ok(server.has(pods, { namespace: 'default', name: 'orphan' }));
  await world.advance(200);
  await gone(server, pods, 'orphan');
  stop.abort();
  await running;
});

test('G7: of several owners the absent ones are struck out and the object stays', async (t) => {
  const server = await serverWith(clusters);
  const one = await server.add(clusters, named('one'));
  const two = await server.add(clusters, named('two'));
  await server.add(pods, named('shared', [one, two]));
  collect(server, t);
  await server.delete(clusters, { namespace: 'default', name: 'one' });
  await until('the reference to the absent owner is struck out', async () => {
    return (await server.get(pods, { namespace: 'default', name: 'shared' })).metadata.ownerReferences?.length === 1;
  });
  const left = (await server.get(pods, { namespace: 'default', name: 'shared' })).metadata.ownerReferences;
  assert.equal(left?.[0]?.uid, two.metadata.uid);
});

test('G8: in foreground the owner goes after every dependent that blocks it', async (t) => {
  const server = await serverWith(clusters);
  const cluster = await server.add(clusters, named('etcd'));
  await server.add(pods, {
    metadata: { ...named('etcd-0', [cluster], true).metadata, finalizers: ['example.com/slow'] },
  });
  await server.add(pods, named('etcd-1', [cluster], true));
  collect(server, t);
  await server.delete(clusters, { namespace: 'default', name: 'etcd' }, { propagationPolicy: 'Foreground' });
  await gone(server, pods, 'etcd-1');
  assert.ok(server.has(clusters, { namespace: 'default', name: 'etcd' }));
  await server.patch(
    pods,
    { namespace: 'default', name: 'etcd-0' },
    { type: 'merge', body: { metadata: { finalizers: [] } } },
  );
  await gone(server, clusters, 'etcd');
  assert.ok(!server.has(pods, { namespace: 'default', name: 'etcd-0' }));
});

test('G8: two foreground deletions that wait for each other both end', async (t) => {
  const server = await serverWith(clusters);
  const one = await server.add(clusters, named('one'));
  const two = await server.add(clusters, named('two', [one], true));
  const body = { metadata: { ownerReferences: [{ ...referenceTo(two), blockOwnerDeletion: true }] } };
  await server.patch(clusters, { namespace: 'default', name: 'one' }, { type: 'merge', body });
  collect(server, t);
  await server.delete(clusters, { namespace: 'default', name: 'one' }, { propagationPolicy: 'Foreground' });
  await gone(server, clusters, 'one');
  await gone(server, clusters, 'two');
});

test('G9: orphaned dependents lose the reference and stay', async (t) => {
  const server = await serverWith(clusters);
  const cluster = await server.add(clusters, named('etcd'));
  await server.add(pods, named('etcd-0', [cluster]));
  collect(server, t);
  await until('the collector watches', () => server.openWatches === 9);
  await server.delete(clusters, { namespace: 'default', name: 'etcd' }, { propagationPolicy: 'Orphan' });
  await gone(server, clusters, 'etcd');
  const left = await server.get(pods, { namespace: 'default', name: 'etcd-0' });
  assert.equal(left.metadata.ownerReferences, undefined);
  assert.equal(left.metadata.deletionTimestamp, undefined);
});

test('G11: an owner that goes while the streams are broken and its revisions forgotten is noticed', async (t) => {
  const server = await serverWith(clusters);
  const cluster = await server.add(clusters, named('etcd'));
  await server.add(pods, named('etcd-0', [cluster]));
  collect(server, t);
  await until('the collector watches', () => server.openWatches === 9);
  server.cutConnections();
  await server.delete(clusters, { namespace: 'default', name: 'etcd' });
  server.expireWatches();
  await gone(server, pods, 'etcd-0');
});

test('G11: stopped before any one of its writes, a collector that starts anew ends in the same state', async (t) => {
  for (let survived = 0; ; survived++) {
    const server = await serverWith(clusters);
    const cluster = await server.add(clusters, named('etcd'));
    const service = await server.add(services, named('etcd-client', [cluster], true));
    await server.add(pods, named('etcd-0', [cluster, service], true));
    await server.add(configMaps, named('endpoints', [service], true));
    await server.delete(clusters, { namespace: 'default', name: 'etcd' }, { propagationPolicy: 'Foreground' });

    const first = new AbortController();
    const stopAt = server.writes.length + survived;
    server.beforeWrite = () => {
      if (server.writes.length === stopAt) first.abort(new Error('stopped'));
      first.signal.throwIfAborted();
    };
    const stopped = garbageCollector({ client: server, world: realWorld(), log }).run(first.signal);
    await until('the first collector is stopped, or done', () => {
      return first.signal.aborted || !server.has(clusters, { namespace: 'default', name: 'etcd' });
    });
    const wasStopped = first.signal.aborted;
    first.abort();
    await stopped;
    server.beforeWrite = undefined;
    collect(server, t);
    await gone(server, clusters, 'etcd');
    assert.deepEqual([...server.namesOf(pods), ...server.namesOf(services), ...server.namesOf(configMaps)], []);
    if (!wasStopped) break;
    assert.ok(survived < 50, 'the collection does not end');
  }
});

test('G12: when nothing changes nothing is asked', async (t) => {
  const server = await serverWith(clusters);
  const cluster = await server.add(clusters, named('etcd'));
  for (let index = 0; index < 50; index++) await server.add(pods, named(`etcd-${index}`, [cluster]));
  collect(server, t);
  await until('the collector watches', () => server.openWatches === 9);
  const { requests } = server;
  // A change that concerns nobody's owners passes through without a question.
  await server.patch(
    pods,
    { namespace: 'default', name: 'etcd-0' },
    { type: 'merge', body: { status: { phase: 'Running' } } },
  );
  await server.add(pods, named('sentinel', [absent('x')]));
  await gone(server, pods, 'sentinel');
  // Two changes of the test, and for the sentinel: a look, a look for its owner, the deletion.
  assert.ok(server.requests - requests <= 8, `${server.requests - requests} requests`);
});

async function serverWith(...types: readonly ResourceType[]): Promise<FakeApiServer> {
  const server = new FakeApiServer();
  for (const type of types) server.serve(type);
  return server;
}

function collect(server: FakeApiServer, t: { after(stop: () => Promise<void>): void }): void {
  const stop = new AbortController();
  const running = garbageCollector({ client: server, world: realWorld(), log }).run(stop.signal);
  t.after(async () => {
    stop.abort();
    await running;
    assert.equal(server.openWatches, 0);
  });
}

function named(
  name: string,
  owners: readonly KubernetesObject[] = [],
  blockOwnerDeletion = false,
): { metadata: ObjectMeta } {
  const ownerReferences = owners.map((owner) => ({ ...referenceTo(owner), blockOwnerDeletion }));
  return { metadata: { namespace: 'default', name, ...(owners.length === 0 ? {} : { ownerReferences }) } };
}

/** A cluster that is not on any server. */
function absent(name: string): KubernetesObject {
  return { apiVersion: 'example.com/v1', kind: 'Cluster', metadata: { namespace: 'default', name, uid: 'gone' } };
}

function referenceTo({ apiVersion = '', kind = '', metadata }: KubernetesObject) {
  return { apiVersion, kind, name: metadata.name ?? '', uid: metadata.uid ?? '' };
}

async function gone(server: FakeApiServer, type: ResourceType, name: string): Promise<void> {
  await until(`${type.kind} ${name} is gone`, () => !server.has(type, { namespace: 'default', name }));
}

async function until(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
  await waitFor(realWorld(), condition, { what, deadlineMs: 30_000, everyMs: 2 });
}
