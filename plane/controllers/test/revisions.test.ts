import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ControllerRevision, OwnerReference, Pod } from '@castellan/machinery';
import { planClaims } from '../src/ownership/plan-claims.js';
import { inOrder, obsoleteRevisions, planRevision } from '../src/revisions/plan-revision.js';
import { isSameData, patchTo, revisionHash, templateOf } from '../src/revisions/revision-data.js';

/** As kube-apiserver 1.34 serves it. */
const template = {
  metadata: { annotations: { test: 'value' }, labels: { app: 'foo' } },
  spec: {
    containers: [
      {
        image: 'test',
        imagePullPolicy: 'Always',
        name: 'test',
        resources: {},
        terminationMessagePath: '/dev/termination-log',
        terminationMessagePolicy: 'File',
      },
    ],
    dnsPolicy: 'ClusterFirst',
    restartPolicy: 'Always',
    schedulerName: 'default-scheduler',
    securityContext: {},
    terminationGracePeriodSeconds: 30,
  },
};

function revision(number: number, app: string, more: ControllerRevision['metadata'] = {}): ControllerRevision {
  return {
    metadata: { name: `web-${app}`, ...more },
    revision: number,
    data: patchTo({ metadata: { labels: { app } } }),
  };
}

const dataOf = (app: string) => patchTo({ metadata: { labels: { app } } });

test('CR1: a revision has the hash that kube-controller-manager 1.34 gives the same template, and another after a collision', () => {
  assert.equal(revisionHash(patchTo(template), 0), '776999688b');
  assert.equal(revisionHash(patchTo(template), 1), '776999688c');
});

test('CR1: what a revision keeps gives the template back; other data gives none', () => {
  assert.deepEqual(templateOf(patchTo(template)), template);
  assert.equal(templateOf({ spec: {} }), undefined);
  assert.equal(templateOf('template'), undefined);
});

test('CR2: data is the same whatever the order of its fields, and when an older server wrote nulls', () => {
  const older = { spec: { template: { spec: { a: 1 }, $patch: 'replace', metadata: { creationTimestamp: null } } } };
  assert.ok(isSameData(older, { spec: { template: { $patch: 'replace', metadata: {}, spec: { a: 1 } } } }));
  assert.ok(!isSameData(dataOf('a'), dataOf('b')));
});

test('CR2: the first revision is number 1, and a new template makes one more than the newest', () => {
  assert.deepEqual(planRevision([], dataOf('a')), { kind: 'create', number: 1 });
  assert.deepEqual(planRevision([revision(4, 'a'), revision(7, 'b')], dataOf('c')), { kind: 'create', number: 8 });
});

test('CR2: a template that is the newest already changes nothing, and an older one becomes the newest again', () => {
  const [a, b] = [revision(1, 'a'), revision(2, 'b')];
  assert.deepEqual(planRevision([a, b], dataOf('b')), { kind: 'keep', revision: b });
  assert.deepEqual(planRevision([a, b], dataOf('a')), { kind: 'renumber', revision: a, to: 3 });
});

test('CR2: of several revisions of one template the newest counts', () => {
  const [a, twin, b] = [revision(1, 'a'), revision(2, 'a', { name: 'twin' }), revision(3, 'b')];
  assert.deepEqual(planRevision([a, twin, b], dataOf('a')), { kind: 'renumber', revision: twin, to: 4 });
});

test('CR2: revisions of one number are in order of their age, then of their name', () => {
  const names = inOrder([
    revision(2, 'a'),
    revision(1, 'late', { name: 'late', creationTimestamp: '2026-01-02T00:00:00Z' }),
    revision(1, 'z', { name: 'z', creationTimestamp: '2026-01-01T00:00:00Z' }),
    revision(1, 'b', { name: 'b', creationTimestamp: '2026-01-01T00:00:00Z' }),
  ]).map(({ metadata }) => metadata.name);
  assert.deepEqual(names, ['b', 'z', 'late', 'web-a']);
});

test('CR3: the oldest revisions beyond the limit go, never one that something lives by', () => {
  const revisions = [revision(1, 'a'), revision(2, 'b'), revision(3, 'c'), revision(4, 'd')];
  const namesBeyond = (limit: number) =>
    obsoleteRevisions(revisions, ({ revision: number }) => number === 1 || number === 4, limit).map(
      ({ metadata }) => metadata.name,
    );
  assert.deepEqual(namesBeyond(1), ['web-b']);
  assert.deepEqual(namesBeyond(0), ['web-b', 'web-c']);
  assert.deepEqual(namesBeyond(10), []);
  assert.deepEqual(namesBeyond(-1), []);
});

const selector = [{ key: 'app', operator: 'in', values: ['web'] }] as const;

function pod(name: string, app: string, owner?: Partial<OwnerReference>): Pod {
  const reference = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid: 'w', controller: true, ...owner };
  return {
    metadata: { name, labels: { app }, ...(owner === undefined ? {} : { ownerReferences: [reference] }) },
  };
}

test('CR4: what is selected and free is adopted, what is selected no more is let go, and what another controls is left alone', () => {
  const owner = { metadata: { name: 'web', uid: 'w' } };
  const objects = [
    pod('own', 'web', {}),
    pod('free', 'web'),
    pod('merely owned', 'web', { controller: false }),
    pod('relabelled', 'db', {}),
    pod('free and other', 'db'),
    pod('another’s', 'web', { uid: 'x' }),
    { metadata: { name: 'leaving', labels: { app: 'web' }, deletionTimestamp: '2026-01-01T00:00:00Z' } },
  ];
  const { own, adopt, release } = planClaims({ object: owner, selector }, objects);
  const names = (claimed: readonly Pod[]) => claimed.map(({ metadata }) => metadata.name);
  assert.deepEqual([names(own), names(adopt), names(release)], [['own'], ['free', 'merely owned'], ['relabelled']]);
});

test('CR4: what a claimant does not accept it lets go; one that is being deleted neither takes nor lets go', () => {
  const accepts = ({ metadata }: Pod) => metadata.name !== 'other';
  const objects = [pod('own', 'web', {}), pod('other', 'web', {}), pod('free', 'web')];
  const staying = planClaims({ object: { metadata: { uid: 'w' } }, selector, accepts }, objects);
  assert.deepEqual([staying.own, staying.adopt, staying.release], [[objects[0]], [objects[2]], [objects[1]]]);
  const metadata = { uid: 'w', deletionTimestamp: '2026-01-01T00:00:00Z' };
  const leaving = planClaims({ object: { metadata }, selector, accepts }, objects);
  assert.deepEqual([leaving.own, leaving.adopt, leaving.release], [[objects[0]], [], []]);
});
