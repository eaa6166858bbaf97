import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OwnerReference, PersistentVolumeClaim, Pod, StatefulSet } from '@castellan/machinery';
import { isOfEarlierPod, planOwners } from '../src/stateful-sets/claim-owners.js';
import { newPod, repairedPod } from '../src/stateful-sets/new-pod.js';
import { hasIdentity, ordinalOf } from '../src/stateful-sets/pod-identity.js';
import { setStatus } from '../src/stateful-sets/set-status.js';
import { viewOf } from '../src/stateful-sets/set-view.js';

const labels = { app: 'web' };

function set(spec: Partial<NonNullable<StatefulSet['spec']>> = {}): StatefulSet {
  return {
    metadata: { namespace: 'default', name: 'web', uid: 'w', generation: 3 },
    spec: {
      serviceName: 'peers',
      replicas: 2,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [] } },
      volumeClaimTemplates: [{ metadata: { name: 'data' } }],
      ...spec,
    },
  };
}

function pod(name: string, more: Partial<Pod> = {}): Pod {
  return { metadata: { name, uid: `uid-${name}` }, ...more };
}

test('ST9: a pod is of a set when its name is the set’s and a number as the set would write it', () => {
  const ordinals = ['web-0', 'web-12', 'web-01', 'web-', 'web', 'webs-1', 'web-1-1', 'web-x'].map((name) =>
    ordinalOf(set(), pod(name)),
  );
  assert.deepEqual(ordinals, [0, 12, undefined, undefined, undefined, undefined, undefined, undefined]);
});

test('ST1: a new pod has the name, host name, subdomain, labels and claims of its ordinal', () => {
  const spec = {
    containers: [],
    volumes: [
      { name: 'data', emptyDir: {} },
      { name: 'tmp', emptyDir: {} },
    ],
  };
  const made = newPod(set(), { name: 'web-abc', template: { metadata: { labels }, spec } }, 1);
  assert.deepEqual(made.metadata, {
    namespace: 'default',
    generateName: 'web-',
    name: 'web-1',
    labels: {
      app: 'web',
      'statefulset.kubernetes.io/pod-name': 'web-1',
      'apps.kubernetes.io/pod-index': '1',
      'controller-revision-hash': 'web-abc',
    },
    ownerReferences: [
      { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid: 'w', controller: true, blockOwnerDeletion: true },
    ],
  });
  assert.deepEqual(made.spec, {
    containers: [],
    hostname: 'web-1',
    subdomain: 'peers',
    volumes: [
      { name: 'data', persistentVolumeClaim: { claimName: 'data-web-1' } },
      { name: 'tmp', emptyDir: {} },
    ],
  });
  assert.ok(hasIdentity(set(), made, 1));
});

test('ST8: a pod without its label, or with another volume, gets them back', () => {
  const made = newPod(set(), { name: 'web-abc', template: {} }, 0);
  const relabelled = { ...made, metadata: { ...made.metadata, labels: { own: 'yes' } } };
  const emptied = { ...made, spec: { containers: [], volumes: [{ name: 'data', emptyDir: {} }] } };
  for (const broken of [relabelled, emptied]) {
    assert.ok(!hasIdentity(set(), broken, 0));
    assert.ok(hasIdentity(set(), repairedPod(set(), broken, 0), 0));
  }
  assert.equal(repairedPod(set(), relabelled, 0).metadata.labels?.own, 'yes');
});

const ownerOf = (kind: 'StatefulSet' | 'Pod', name: string, uid: string): OwnerReference => ({
  apiVersion: kind === 'Pod' ? 'v1' : 'apps/v1',
  kind,
  name,
  uid,
  controller: true,
  blockOwnerDeletion: true,
});
const ofSet = ownerOf('StatefulSet', 'web', 'w');
const ofPod = ownerOf('Pod', 'web-1', 'uid-web-1');
const ofAnother = ownerOf('StatefulSet', 'db', 'd');

function owners(
  before: readonly OwnerReference[],
  policy: { readonly deleted?: boolean; readonly scaled?: boolean; readonly isCondemned?: boolean },
) {
  const { deleted = false, scaled = false, isCondemned = false } = policy;
  const claim: PersistentVolumeClaim = { metadata: { name: 'data-web-1', ownerReferences: before } };
  const retention = { deleteWithSet: deleted, deleteWhenScaled: scaled };
  return planOwners(claim, set(), { pod: pod('web-1'), isCondemned }, retention);
}

test('ST7: a claim is owned by whose end it is to go with', () => {
  assert.deepEqual(owners([], {}), { kind: 'keep' });
  assert.deepEqual(owners([], { deleted: true }), { kind: 'write', owners: [ofSet] });
  assert.deepEqual(owners([ofSet], { deleted: true }), { kind: 'keep' });
  assert.deepEqual(owners([], { scaled: true }), { kind: 'keep' });
  assert.deepEqual(owners([], { scaled: true, isCondemned: true }), { kind: 'write', owners: [ofPod] });
  assert.deepEqual(owners([ofSet], { deleted: true, scaled: true, isCondemned: true }), {
    kind: 'write',
    owners: [ofPod],
  });
  assert.deepEqual(owners([ofPod], { deleted: true, scaled: true }), { kind: 'write', owners: [ofSet] });
  assert.deepEqual(owners([ofSet], { deleted: true, isCondemned: true }), { kind: 'keep' });
});

test('ST7: a policy that retains takes off what an earlier one put on, and leaves what others put on', () => {
  assert.deepEqual(owners([ofSet, ofPod], {}), { kind: 'write', owners: [] });
  assert.deepEqual(owners([ofAnother, ofSet], {}), { kind: 'write', owners: [ofAnother] });
});

test('ST7: a claim of another controller is left to it', () => {
  assert.deepEqual(owners([ofAnother], { deleted: true }), { kind: 'keep' });
  assert.deepEqual(owners([ofAnother, ofSet], { deleted: true }), { kind: 'give up', owners: [ofAnother] });
  const plain = { ...ofAnother, controller: false };
  assert.deepEqual(owners([plain], { deleted: true }), { kind: 'write', owners: [plain, ofSet] });
});

test('ST7: a claim of an earlier set or pod of that name is left as it is, and no new pod is made with it', () => {
  const ofEarlierPod = { ...ofPod, uid: 'earlier' };
  assert.deepEqual(owners([{ ...ofSet, uid: 'earlier' }], { deleted: true }), { kind: 'keep' });
  assert.deepEqual(owners([ofEarlierPod], { scaled: true }), { kind: 'keep' });
  const claim = { metadata: { name: 'data-web-1', ownerReferences: [ofEarlierPod] } };
  assert.deepEqual([isOfEarlierPod(claim, 'web-1'), isOfEarlierPod(claim, 'web-2')], [true, false]);
});

test('ST4: maxUnavailable is a number or a share of the pods, rounded down, one at least', () => {
  const most = (maxUnavailable: number | string | undefined, replicas = 10) => {
    const rollingUpdate = maxUnavailable === undefined ? {} : { maxUnavailable };
    const { update } = viewOf(set({ replicas, updateStrategy: { type: 'RollingUpdate', rollingUpdate } }));
    return update.kind === 'rolling' ? update.maxUnavailable : undefined;
  };
  assert.deepEqual([most(undefined), most(3), most('35%'), most('5%'), most('100%', 4)], [1, 3, 3, 1, 4]);
});

const nowMs = Date.parse('2026-01-01T00:01:00Z');

function running(name: string, revision: string, readySince?: string): Pod {
  const ready = { type: 'Ready', status: 'True', lastTransitionTime: readySince ?? '' };
  return pod(name, {
    metadata: { name, labels: { 'controller-revision-hash': revision } },
    status: { phase: 'Running', ...(readySince === undefined ? {} : { conditions: [ready] }) },
  });
}

test('ST10: the status counts pods by readiness, by how long they are ready, and by revision', () => {
  const ending = running('web-3', 'old', '2026-01-01T00:00:00Z');
  const pods = [
    running('web-0', 'old', '2026-01-01T00:00:00Z'),
    running('web-1', 'new', '2026-01-01T00:00:55Z'),
    running('web-2', 'new'),
    { ...ending, metadata: { ...ending.metadata, deletionTimestamp: '2026-01-01T00:00:59Z' } },
  ];
  const of = set({ replicas: 4, minReadySeconds: 10 });
  const revisions = { current: 'old', update: 'new', collisionCount: 0 };
  assert.deepEqual(setStatus(of, viewOf(of), pods, revisions, nowMs), {
    observedGeneration: 3,
    replicas: 4,
    readyReplicas: 3,
    availableReplicas: 2,
    currentReplicas: 1,
    updatedReplicas: 2,
    currentRevision: 'old',
    updateRevision: 'new',
    collisionCount: 0,
  });
});

test('ST10: an update is over when every pod is of its revision and ready, and not with OnDelete', () => {
  const pods = [running('web-0', 'new', '2026-01-01T00:00:00Z'), running('web-1', 'new', '2026-01-01T00:00:00Z')];
  const revisions = { current: 'old', update: 'new', collisionCount: 1 };
  const currentOf = (of: StatefulSet, own: readonly Pod[]) =>
    setStatus(of, viewOf(of), own, revisions, nowMs).currentRevision;
  assert.equal(currentOf(set(), pods), 'new');
  assert.equal(currentOf(set(), pods.slice(1)), 'old');
  assert.equal(currentOf(set(), [...pods, running('web-2', 'old', '2026-01-01T00:00:00Z')]), 'old');
  assert.equal(currentOf(set({ updateStrategy: { type: 'OnDelete' } }), pods), 'old');
});
