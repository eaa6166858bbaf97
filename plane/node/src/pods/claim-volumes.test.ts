import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Node, PersistentVolume, PersistentVolumeClaim, Pod, Volume } from '@castellan/machinery';
import { claimDirectory, linkClaim } from './claim-volumes.js';
import { ownershipError } from './group-ownership.js';
import type { VolumeSources } from './projected-files.js';

const volume: Volume = { name: 'data', persistentVolumeClaim: { claimName: 'data' } };
const own: Volume = { name: 'scratch', ephemeral: {} };
const here: Node = { metadata: { name: 'here', labels: { 'kubernetes.io/hostname': 'here' } } };

function pod(spec: Partial<NonNullable<Pod['spec']>> = {}): Pod {
  return { metadata: { namespace: 'team', name: 'web', uid: 'pod-1' }, spec: { containers: [], ...spec } };
}

function claim(spec: PersistentVolumeClaim['spec'] = {}, phase = 'Bound'): PersistentVolumeClaim {
  return {
    metadata: { namespace: 'team', name: 'data', uid: 'claim-1' },
    spec: { volumeName: 'v', ...spec },
    status: { phase },
  };
}

function persistent(spec: PersistentVolume['spec']): PersistentVolume {
  const claimRef = { namespace: 'team', name: 'data', uid: 'claim-1' };
  return { metadata: { name: 'v' }, spec: { claimRef, ...spec } };
}

interface Found {
  readonly pod?: Pod;
  readonly claim?: PersistentVolumeClaim;
  readonly persistent?: PersistentVolume;
}

function sources(found: Found): VolumeSources {
  const none = async () => undefined;
  return {
    ...{ pod: found.pod ?? pod(), nodeName: 'here', hostIp: '10.0.0.1', podIp: '10.0.0.2' },
    ...{ configMap: none, secret: none, token: () => assert.fail('no token is asked for') },
    claim: async () => found.claim,
    persistentVolume: async () => found.persistent,
    node: async () => here,
  };
}

function newPlace(t: TestContext): { readonly path: string; readonly directory: string } {
  const root = mkdtempSync(join(tmpdir(), 'castellan-claims-'));
  t.after(() => rmSync(root, { recursive: true }));
  const directory = join(root, 'volume');
  mkdirSync(directory);
  return { path: join(root, 'link'), directory };
}

const onNode = (name: string) => ({
  nodeAffinity: {
    required: {
      nodeSelectorTerms: [{ matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [name] }] }],
    },
  },
});

test('VO6: a volume of a claim is where its object says, also when that is another one later', async (t) => {
  const { path, directory } = newPlace(t);
  await linkClaim(
    path,
    volume,
    sources({ claim: claim(), persistent: persistent({ local: { path: directory }, ...onNode('here') }) }),
  );
  assert.equal(claimDirectory(path), directory);
  const other = join(directory, 'made');
  await linkClaim(path, volume, sources({ claim: claim(), persistent: persistent({ hostPath: { path: other } }) }));
  assert.equal(claimDirectory(path), other);
  assert.ok(statSync(other).isDirectory());
});

const refused: readonly (readonly [string, Volume, Found, string])[] = [
  ['a claim that is not there', volume, {}, 'persistentvolumeclaim "data" not found'],
  ['a claim that is not bound', volume, { claim: claim({}, 'Pending') }, 'PVC is not bound'],
  [
    'a claim that is going',
    volume,
    { claim: { ...claim(), metadata: { ...claim().metadata, deletionTimestamp: 't' } } },
    'PVC is being deleted',
  ],
  [
    'a claim for a block device',
    volume,
    { claim: claim({ volumeMode: 'Block' }) },
    'this node does not offer volumes as block devices; next: use volumeMode Filesystem',
  ],
  ['a volume that is not there', volume, { claim: claim() }, 'persistentvolume "v" not found'],
  [
    "another claim's volume",
    volume,
    { claim: claim(), persistent: persistent({ claimRef: { namespace: 'team', name: 'data', uid: 'claim-0' } }) },
    'persistentvolume "v" is bound to another claim',
  ],
  [
    'a volume of another node',
    volume,
    { claim: claim(), persistent: persistent({ local: { path: '/' }, ...onNode('there') }) },
    'MountVolume.NodeAffinity check failed for volume "v": no matching NodeSelectorTerms',
  ],
  [
    'a kind of volume that is not offered',
    volume,
    { claim: claim(), persistent: persistent({ nfs: { server: 's', path: '/' } }) },
    'volume "v" is not of a kind that this node offers; next: use local or hostPath',
  ],
  [
    'a directory that is gone',
    volume,
    { claim: claim(), persistent: persistent({ local: { path: '/nowhere/at/all' } }) },
    'volume "v": path "/nowhere/at/all" is not a directory of this machine',
  ],
  [
    "somebody else's claim for a volume of the pod's own",
    own,
    { claim: claim() },
    'PVC was not created for pod "web" (pod is not owner)',
  ],
];

for (const [what, wanted, found, reason] of refused) {
  test(`VO6: ${what} is told, and nothing is mounted in its place`, async (t) => {
    const { path } = newPlace(t);
    const name = wanted === own ? 'web-scratch' : 'data';
    await assert.rejects(linkClaim(path, wanted, sources(found)), {
      name: 'VolumeError',
      message: `error processing PVC team/${name}: ${reason}`,
    });
    assert.throws(() => claimDirectory(path), { code: 'ENOENT' });
  });
}

test('VO6: a pod that has its volume keeps it when the claim is told to go', async (t) => {
  const { path, directory } = newPlace(t);
  const found = { claim: claim(), persistent: persistent({ local: { path: directory } }) };
  await linkClaim(path, volume, sources(found));
  const going = { ...claim(), metadata: { ...claim().metadata, deletionTimestamp: 't' } };
  await linkClaim(path, volume, sources({ ...found, claim: going }));
  assert.equal(claimDirectory(path), directory);
});

test('VO7: a volume is given to the group that the pod names, with all that is in it', async (t) => {
  const { path, directory } = newPlace(t);
  writeFileSync(join(directory, 'file'), '', { mode: 0o600 });
  const group = process.getgid?.() ?? 0;
  const found = { claim: claim(), persistent: persistent({ local: { path: directory } }) };
  const given = (policy?: string) =>
    pod({ securityContext: { fsGroup: group, ...(policy === undefined ? {} : { fsGroupChangePolicy: policy }) } });
  await linkClaim(path, volume, sources({ ...found, pod: given() }));
  assert.equal(statSync(directory).mode & 0o7777, 0o2775);
  assert.equal(statSync(join(directory, 'file')).mode & 0o7777, 0o660);
  writeFileSync(join(directory, 'later'), '', { mode: 0o600 });
  await linkClaim(path, volume, sources({ ...found, pod: given('OnRootMismatch') }));
  assert.equal(statSync(join(directory, 'later')).mode & 0o7777, 0o600);
});

test('VO7: where files cannot be given to a group the pod says so, each time in the same words', () => {
  const refused = (path: string) =>
    Object.assign(new Error(`EINVAL: invalid argument, chown '${path}'`), { code: 'EINVAL', syscall: 'chown' });
  const message = 'fsGroup cannot be set (EINVAL); next: leave fsGroup out, or run the plane as root';
  for (const path of ['/a', '/b']) assert.equal(ownershipError(refused(path))?.message, message);
  assert.equal(ownershipError(new Error('anything else')), undefined);
});
