import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PersistentVolumeClaim, StorageClass } from '@castellan/machinery';
import { planProvisioning } from './provision-plan.js';

const gibibyte = 2 ** 30;

function claim(
  spec: PersistentVolumeClaim['spec'] = {},
  { selected, provisioner = 'castellan.dev/local' }: { readonly selected?: string; readonly provisioner?: string } = {},
): PersistentVolumeClaim {
  const annotations = {
    'volume.kubernetes.io/storage-provisioner': provisioner,
    ...(selected === undefined ? {} : { 'volume.kubernetes.io/selected-node': selected }),
  };
  return {
    metadata: { namespace: 'team', name: 'data', uid: '00000000-0000-4000-8000-000000000003', annotations },
    spec: { resources: { requests: { storage: '1Gi' } }, ...spec },
  };
}

function told(object: PersistentVolumeClaim, volumeBindingMode: string, provisioner = 'castellan.dev/local'): string {
  const storageClass: StorageClass = { metadata: { name: 'c' }, provisioner, volumeBindingMode };
  const plan = planProvisioning(object, {
    storageClass,
    runningNodes: ['here', 'near', 'cordoned'],
    openNodes: ['here', 'near'],
    totalBytes: () => 10 * gibibyte,
  });
  switch (plan.kind) {
    case 'refuse':
      return `${plan.mayFitElsewhere ? 'elsewhere' : 'never'}: ${plan.reason}`;
    case 'leave':
    case 'wait':
      return plan.kind;
    default:
      return `${plan.kind} ${plan.nodeName}`;
  }
}

const waits = 'WaitForFirstConsumer';

test('VO2: a claim that waits for its pod gets its volume on the node that was chosen', () => {
  assert.equal(told(claim({}, { selected: 'here' }), waits), 'make here');
  assert.equal(told(claim({}, { selected: 'there' }), waits), 'wait');
  assert.equal(told(claim(), waits), 'leave');
});

test('VO2: a claim that waits for nothing is taken by the first node', () => {
  assert.equal(told(claim(), 'Immediate'), 'take near');
  assert.equal(told(claim({}, { selected: 'here' }), 'Immediate'), 'make here');
  assert.equal(told(claim({}, { selected: 'there' }), 'Immediate'), 'wait');
});

test('VO2: no node takes a claim while all are cordoned, but a chosen one makes its volume', () => {
  const storageClass: StorageClass = {
    metadata: { name: 'c' },
    provisioner: 'castellan.dev/local',
    volumeBindingMode: 'Immediate',
  };
  const around = { storageClass, runningNodes: ['here'], openNodes: [], totalBytes: () => 10 * gibibyte };
  assert.deepEqual(planProvisioning(claim(), around), { kind: 'wait' });
  const chosen = claim({}, { selected: 'here' });
  assert.deepEqual(planProvisioning(chosen, around), { kind: 'make', nodeName: 'here' });
});

test('VO2: claims of other provisioners, with a volume, or on their way out are left alone', () => {
  assert.equal(told(claim({}, { selected: 'here', provisioner: 'other' }), waits), 'leave');
  assert.equal(told(claim({}, { selected: 'here' }), waits, 'other'), 'leave');
  assert.equal(told(claim({ volumeName: 'v' }, { selected: 'here' }), waits), 'leave');
  const going = claim({}, { selected: 'here' });
  assert.equal(told({ ...going, metadata: { ...going.metadata, deletionTimestamp: 't' } }, waits), 'leave');
});

test('VO4: what a directory cannot be is refused, with what to do', () => {
  const refused = (spec: PersistentVolumeClaim['spec']) => told(claim(spec, { selected: 'here' }), waits);
  assert.equal(refused({ selector: { matchLabels: {} } }), 'never: claim.Spec.Selector is not supported');
  assert.equal(
    refused({ volumeMode: 'Block' }),
    'never: volumes are directories, and cannot be block devices; next: ask for volumeMode Filesystem',
  );
  assert.match(
    refused({ dataSource: { kind: 'PersistentVolumeClaim', name: 'x' } }),
    /^never: volumes are empty at first;/,
  );
});

test('VO4: what is larger than the disk is refused, and the scheduler is to choose again', () => {
  const refused = told(claim({ resources: { requests: { storage: '11Gi' } } }, { selected: 'here' }), waits);
  assert.equal(
    refused,
    'elsewhere: 11Gi is more than the disk of this node has, which is 10240Mi; next: ask for less, or move the data directory to a larger disk',
  );
  assert.equal(told(claim({ resources: { requests: { storage: '10Gi' } } }, { selected: 'here' }), waits), 'make here');
});
