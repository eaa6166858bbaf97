import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Client } from '@castellan/client';
import {
  type KubernetesObject,
  nodes as nodeType,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type Pod,
  persistentVolumeClaims,
  persistentVolumes,
  type ResourceType,
  type StorageClass,
  storageClasses,
} from '@castellan/machinery';
import type { ReconcileContext } from '@castellan/runtime';
import { simulatedWorld } from '@castellan/world';
import { volumeBinding } from '../src/plugins/volume-binding.js';
import { node, pod } from './objects.js';
import { choose, HandCache, refusals, scene } from './scene.js';

type Other = readonly [ResourceType, KubernetesObject];

const label = 'kubernetes.io/hostname';
const nodes = [node('a', { labels: { [label]: 'a' } }), node('b', { labels: { [label]: 'b' } })];
const boundOnce = { 'pv.kubernetes.io/bind-completed': 'yes' };

function user(...claims: readonly string[]): Pod {
  const volumes = claims.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } }));
  return pod('user', { spec: { volumes } });
}

function claim(
  name: string,
  spec: PersistentVolumeClaim['spec'],
  metadata: PersistentVolumeClaim['metadata'] = {},
): Other {
  const object: PersistentVolumeClaim = {
    metadata: { namespace: 'default', name, uid: `uid-${name}`, ...metadata },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec },
  };
  return [persistentVolumeClaims, object];
}

function volume(name: string, onNode: string, spec: PersistentVolume['spec'] = {}): Other {
  const onNodes = { matchExpressions: [{ key: label, operator: 'In', values: [onNode] }] };
  const object: PersistentVolume = {
    metadata: { name },
    spec: {
      accessModes: ['ReadWriteOnce'],
      capacity: { storage: '1Gi' },
      nodeAffinity: { required: { nodeSelectorTerms: [onNodes] } },
      ...spec,
    },
    status: { phase: 'Available' },
  };
  return [persistentVolumes, object];
}

function storageClass(name: string, provisioner: string, more: Partial<StorageClass> = {}): Other {
  const object: StorageClass = { metadata: { name }, provisioner, volumeBindingMode: 'WaitForFirstConsumer', ...more };
  return [storageClasses, object];
}

const made = storageClass('made', 'example.com/disks');
const statics = storageClass('static', 'kubernetes.io/no-provisioner');

function messageOf(who: Pod, ...others: readonly Other[]): string {
  const choice = choose(who, { nodes, others });
  return choice.kind === 'none' ? choice.message : `on ${choice.nodeName}`;
}

const general: readonly (readonly [string, Pod, readonly Other[], string])[] = [
  ['that is not there', user('data'), [], 'persistentvolumeclaim "data" not found'],
  [
    'of its own that is not there yet',
    pod('user', { spec: { volumes: [{ name: 'own', ephemeral: {} }] } }),
    [],
    'waiting for ephemeral volume controller to create the persistentvolumeclaim "user-own"',
  ],
  [
    'of its own that is not its own',
    pod('user', { spec: { volumes: [{ name: 'own', ephemeral: {} }] } }),
    [claim('user-own', {})],
    'PVC default/user-own was not created for pod default/user (pod is not owner)',
  ],
  [
    'that is going',
    user('data'),
    [claim('data', {}, { deletionTimestamp: '2026-01-01T00:00:00Z' })],
    'persistentvolumeclaim "data" is being deleted',
  ],
  [
    'that is not bound and waits for no pod',
    user('data'),
    [claim('data', {})],
    'pod has unbound immediate PersistentVolumeClaims',
  ],
];

for (const [what, who, others, expected] of general) {
  test(`S13: a pod with a claim ${what} is placed nowhere`, () => {
    assert.equal(messageOf(who, ...others), `0/2 nodes are available: ${expected}.`);
  });
}

test('S13: a pod goes where its volume is', () => {
  const others = [claim('data', { volumeName: 'v' }, { annotations: boundOnce }), volume('v', 'b')];
  assert.equal(messageOf(user('data'), ...others), 'on b');
  assert.deepEqual(refusals(user('data'), { nodes, others }), {
    a: ["node(s) didn't match PersistentVolume's node affinity"],
  });
});

test('S13: a claim whose volume is gone keeps its pod from every node', () => {
  const gone = claim('data', { volumeName: 'v' }, { annotations: boundOnce });
  assert.equal(
    messageOf(user('data'), gone),
    '0/2 nodes are available: 2 node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s).',
  );
});

test('S13: a claim that waits for its pod takes it where a free volume is', () => {
  const data = claim('data', { storageClassName: 'static' });
  assert.equal(messageOf(user('data'), data, statics, volume('v', 'b', { storageClassName: 'static' })), 'on b');
  assert.equal(
    messageOf(user('data'), data, statics, volume('v', 'b', { storageClassName: 'other' })),
    "0/2 nodes are available: 2 node(s) didn't find available persistent volumes to bind.",
  );
});

test('S13: two claims of a pod do not get one volume', () => {
  const two = ['x', 'y'].map((name) => claim(name, { storageClassName: 'static' }));
  const free = (name: string, onNode: string) => volume(name, onNode, { storageClassName: 'static' });
  assert.match(messageOf(user('x', 'y'), ...two, statics, free('v', 'b')), /2 node\(s\) didn't find available/);
  assert.equal(messageOf(user('x', 'y'), ...two, statics, free('v', 'b'), free('w', 'b')), 'on b');
});

test('S13: a claim for which a volume is made takes its pod where that is possible, and then only there', () => {
  const data = claim('data', { storageClassName: 'made' });
  const selected = claim(
    'data',
    { storageClassName: 'made' },
    { annotations: { 'volume.kubernetes.io/selected-node': 'b' } },
  );
  const inA = [{ matchLabelExpressions: [{ key: label, values: ['a'] }] }];
  assert.equal(messageOf(user('data'), selected, made), 'on b');
  assert.equal(
    messageOf(user('data'), data, storageClass('made', 'example.com/disks', { allowedTopologies: inA })),
    'on a',
  );
});

test('S14: a claim for one pod is used by one at a time', () => {
  const exclusive = claim('data', { accessModes: ['ReadWriteOncePod'], volumeName: 'v' }, { annotations: boundOnce });
  const others = [exclusive, volume('v', 'a')];
  const holder = { ...user('data'), metadata: { namespace: 'default', name: 'holder', uid: 'h' } };
  assert.deepEqual(refusals(user('data'), { nodes, others, placed: { a: [holder] } }), {
    a: ['node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode'],
    b: ['node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode'],
  });
});

/** The plugin with a pod on its way to node `b`, over objects that the test changes. */
class Journey {
  readonly patches: (readonly [string, unknown])[] = [];
  readonly #plugin = volumeBinding();
  readonly #cache = new HandCache();
  readonly #pod: Pod;

  constructor(who: Pod, ...others: readonly Other[]) {
    this.#pod = who;
    for (const [type, object] of others) this.#cache.put(type, object);
    this.#cache.put(nodeType, ...nodes);
    this.#plugin.reserve?.(who, 'b', scene({ nodes, others }));
  }

  change([type, object]: Other): void {
    this.#cache.put(type, object);
  }

  /** `ready`, `waiting`, or why not. */
  async preBind(): Promise<string> {
    const patch = async (
      type: ResourceType,
      { name }: { readonly name: string },
      { body }: { readonly body: unknown },
    ) => {
      this.patches.push([`${type.plural} ${name}`, body]);
    };
    const quiet = () => undefined;
    const context: ReconcileContext = {
      cache: this.#cache.reader,
      client: { patch } as unknown as Client,
      world: simulatedWorld(1),
      signal: new AbortController().signal,
      log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
      events: { record: quiet },
    };
    const state = await this.#plugin.preBind?.(this.#pod, 'b', context);
    return typeof state === 'object' ? state.reasons.join() : (state ?? 'nothing to do');
  }
}

const selectedNode = (name: string) => ({ annotations: { 'volume.kubernetes.io/selected-node': name } });

test('S15: before a pod is bound its node is named in the claim, and its volume is there', async () => {
  const spec = { storageClassName: 'made' };
  const journey = new Journey(user('data'), claim('data', spec, { resourceVersion: '7' }), made);
  assert.equal(await journey.preBind(), 'waiting');
  assert.deepEqual(journey.patches, [
    ['persistentvolumeclaims data', { metadata: { resourceVersion: '7', ...selectedNode('b') } }],
  ]);
  journey.change(claim('data', spec, selectedNode('b')));
  assert.equal(await journey.preBind(), 'waiting');
  journey.change(claim('data', { ...spec, volumeName: 'v' }, { annotations: boundOnce }));
  journey.change(volume('v', 'b'));
  assert.equal(await journey.preBind(), 'ready');
  assert.equal(journey.patches.length, 1);
  assert.equal(await journey.preBind(), 'nothing to do', 'what is bound is promised no more');
});

test('S15: when its volume cannot be made, or is elsewhere, a pod is placed anew', async () => {
  const spec = { storageClassName: 'made' };
  const why = 'running PreBind plugin "VolumeBinding": binding volumes:';
  const journey = new Journey(user('data'), claim('data', spec), made);
  await journey.preBind();
  assert.equal(await journey.preBind(), `${why} provisioning failed for PVC "data"`);
  const elsewhere = new Journey(user('data'), claim('data', spec), made);
  elsewhere.change(claim('data', { ...spec, volumeName: 'v' }, { annotations: boundOnce }));
  elsewhere.change(volume('v', 'a'));
  assert.equal(
    await elsewhere.preBind(),
    `${why} pv "v" node affinity doesn't match node "b": no matching NodeSelectorTerms`,
  );
});

test('S15: a free volume is promised to one claim, and then kept for it', async () => {
  const free = volume('v', 'b', { storageClassName: 'static' });
  const journey = new Journey(user('data'), claim('data', { storageClassName: 'static' }), statics, free);
  assert.equal(await journey.preBind(), 'waiting');
  assert.deepEqual(
    journey.patches.map(([which]) => which),
    ['persistentvolumes v'],
  );
  const claimRef = { namespace: 'default', name: 'data', uid: 'uid-data' };
  journey.change(volume('v', 'b', { storageClassName: 'static', claimRef }));
  assert.equal(await journey.preBind(), 'waiting');
  const other = { ...claimRef, name: 'other', uid: 'uid-other' };
  journey.change(volume('v', 'b', { storageClassName: 'static', claimRef: other }));
  assert.match(await journey.preBind(), /volume "v" already bound to a different claim\./);
  assert.equal(journey.patches.length, 1);
});
