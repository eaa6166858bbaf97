import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ControllerRevision, controllerRevisions, type StatefulSet, statefulSets } from '@castellan/machinery';
import type { Controller } from '@castellan/runtime';
import { orphanRevisions } from '../src/ownership/orphans.js';
import { obsoleteRevisions } from '../src/revisions/plan-revision.js';
import { patchTo, revisionHash } from '../src/revisions/revision-data.js';
import { claimRevisions, deleteRevisions, ensureRevision } from '../src/revisions/revision-history.js';
import { Bench } from './bench.js';

const key = { namespace: 'default', name: 'web' };
const labels = { app: 'web' };
const templateOf = (image: string) => ({ metadata: { labels }, spec: { containers: [{ name: 'c', image }] } });

function set(image: string): StatefulSet {
  const spec = { selector: { matchLabels: labels }, serviceName: '', template: templateOf(image) };
  return { metadata: { ...key, uid: 'w', annotations: { 'kubernetes.io/change-cause': `image ${image}` } }, spec };
}

/** A controller that does nothing but keep a history of at most one past revision. */
function keeper(collisions: number[] = []): Controller<StatefulSet> {
  return {
    name: 'keeper',
    for: statefulSets,
    owns: [controllerRevisions],
    indexes: [orphanRevisions],
    async reconcile(of, context) {
      const object = context.cache.get(statefulSets, of);
      if (object?.spec === undefined) return undefined;
      const { template } = object.spec;
      const selector = [{ key: 'app', operator: 'in', values: ['web'] }] as const;
      const owner = { object, type: statefulSets, selector, template, hashLabel: 'hash', collisionCount: 0 };
      const history = await ensureRevision(owner, await claimRevisions(owner, context), context);
      collisions.push(history.collisionCount);
      await deleteRevisions(
        obsoleteRevisions(history.revisions, (each) => each === history.newest, 1),
        context,
      );
      return undefined;
    },
  };
}

async function benchWith(controller: Controller, image: string): Promise<Bench> {
  const bench = new Bench(controller);
  for (const type of [statefulSets, controllerRevisions]) bench.server.serve(type);
  await bench.server.add(statefulSets, set(image));
  return bench;
}

async function history(bench: Bench): Promise<readonly string[]> {
  const { items } = await bench.server.list(controllerRevisions);
  const image = ({ data }: ControllerRevision) => JSON.stringify(data).match(/"image":"(\w+)"/)?.[1];
  return items.map((each) => `${each.revision} ${image(each)}`).sort();
}

async function use(bench: Bench, image: string): Promise<void> {
  await bench.server.patch(statefulSets, key, { type: 'merge', body: { spec: { template: templateOf(image) } } });
  await bench.reconcile(key);
}

test('CR2, CR3: new templates are numbered on, an old one is numbered anew, and the oldest goes', async () => {
  const bench = await benchWith(keeper(), 'one');
  await bench.reconcile(key);
  await bench.reconcile(key);
  assert.deepEqual(await history(bench), ['1 one']);
  await use(bench, 'two');
  assert.deepEqual(await history(bench), ['1 one', '2 two']);
  await use(bench, 'one');
  assert.deepEqual(await history(bench), ['2 two', '3 one']);
  await use(bench, 'three');
  assert.deepEqual(await history(bench), ['3 one', '4 three']);
});

test('CR1: a revision has the labels of its template, its hash, the annotations of its owner, and its owner', async () => {
  const bench = await benchWith(keeper(), 'one');
  await bench.reconcile(key);
  const { items } = await bench.server.list(controllerRevisions);
  const hash = revisionHash(patchTo(templateOf('one')), 0);
  assert.equal(items[0]?.metadata.name, `web-${hash}`);
  assert.deepEqual(items[0]?.metadata.labels, { app: 'web', hash });
  assert.deepEqual(items[0]?.metadata.annotations, { 'kubernetes.io/change-cause': 'image one' });
  assert.equal(items[0]?.metadata.ownerReferences?.[0]?.uid, 'w');
});

test('CR1: a name that is taken by other data is counted, and one of ours that the cache does not show yet is taken', async () => {
  const collisions: number[] = [];
  const bench = await benchWith(keeper(collisions), 'one');
  const name = `web-${revisionHash(patchTo(templateOf('one')), 0)}`;
  await bench.server.add(controllerRevisions, { metadata: { namespace: 'default', name }, revision: 9, data: {} });
  await bench.reconcile(key);
  assert.deepEqual(await history(bench), ['1 one', '9 undefined']);
  const stale = await benchWith(keeper(collisions), 'one');
  await stale.sync();
  await stale.reconcileStale(key);
  await stale.reconcileStale(key);
  assert.deepEqual(await history(stale), ['1 one']);
  assert.deepEqual(collisions, [1, 0, 0]);
});

test('CR4: a free revision is adopted, unless the owner is being deleted by now', async () => {
  const bench = await benchWith(keeper(), 'one');
  const metadata = { namespace: 'default', name: 'old', labels };
  await bench.server.add(controllerRevisions, { metadata, revision: 5, data: patchTo(templateOf('one')) });
  await bench.sync();
  await bench.server.patch(statefulSets, key, { type: 'merge', body: { metadata: { finalizers: ['orphan'] } } });
  await bench.server.delete(statefulSets, key);
  await assert.rejects(bench.reconcileStale(key), /StatefulSet web is being deleted or is another one by now/);
  const other = await benchWith(keeper(), 'one');
  await other.server.add(controllerRevisions, { metadata, revision: 5, data: patchTo(templateOf('one')) });
  await other.reconcile(key);
  assert.deepEqual(await history(other), ['5 one']);
  const [old] = (await other.server.list(controllerRevisions)).items;
  assert.deepEqual(old?.metadata.ownerReferences?.[0]?.name, 'web');
});
