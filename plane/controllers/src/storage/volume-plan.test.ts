import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PersistentVolume, PersistentVolumeClaim } from '@castellan/machinery';
import { planVolume, type VolumePlan } from './volume-plan.js';

const made = { 'pv.kubernetes.io/provisioned-by': 'example.com/disks' };
const claimRef = { namespace: 'team', name: 'data', uid: 'claim-1' };

function volume(
  spec: PersistentVolume['spec'],
  phase: string,
  annotations: Record<string, string> = {},
): PersistentVolume {
  return { metadata: { name: 'v', annotations }, spec: { ...spec }, status: { phase } };
}

function claim(volumeName: string, volumeMode = 'Filesystem'): PersistentVolumeClaim {
  return { metadata: { namespace: 'team', name: 'data', uid: 'claim-1' }, spec: { volumeName, volumeMode } };
}

function told(plan: VolumePlan): string {
  switch (plan.kind) {
    case 'phase':
      return plan.event === undefined ? plan.phase : `${plan.phase}: ${plan.event.reason}: ${plan.event.message}`;
    case 'leave':
      return plan.volumeEvent === undefined ? 'leave' : `leave: ${plan.volumeEvent.message}`;
    default:
      return plan.kind;
  }
}

const cases: readonly (readonly [string, PersistentVolume, PersistentVolumeClaim | undefined, string])[] = [
  ['nobody refers to is free', volume({}, 'Pending'), undefined, 'Available'],
  [
    'is kept for a claim by name is free for it',
    volume({ claimRef: { namespace: 'team', name: 'data' } }, 'Pending'),
    undefined,
    'Available',
  ],
  ['has its claim is bound', volume({ claimRef }, 'Available'), claim('v'), 'Bound'],
  ['has a claim that is not bound yet is left to it', volume({ claimRef }, 'Available'), claim(''), 'leave'],
  [
    'can never be bound to its claim says so',
    volume({ claimRef, volumeMode: 'Block' }, 'Available'),
    claim(''),
    'leave: Cannot bind PersistentVolume to requested PersistentVolumeClaim "data" due to incompatible volumeMode.',
  ],
  ['has a claim with another volume is given free', volume({ claimRef }, 'Bound'), claim('other'), 'unbind'],
  [
    'was made for a claim with another volume is released',
    volume({ claimRef, persistentVolumeReclaimPolicy: 'Delete' }, 'Bound', made),
    claim('other'),
    'Released',
  ],
  [
    'lost its claim is released',
    volume({ claimRef, persistentVolumeReclaimPolicy: 'Delete' }, 'Bound'),
    undefined,
    'Released',
  ],
  [
    'is released and retained stays so',
    volume({ claimRef, persistentVolumeReclaimPolicy: 'Retain' }, 'Released'),
    undefined,
    'Released',
  ],
  [
    'is released and has a provisioner waits for it',
    volume({ claimRef, persistentVolumeReclaimPolicy: 'Delete' }, 'Released', made),
    undefined,
    'Released',
  ],
  [
    'is released and nobody deletes has failed',
    volume({ claimRef, persistentVolumeReclaimPolicy: 'Delete' }, 'Released'),
    undefined,
    'Failed: VolumeFailedDelete: error getting deleter volume plugin for volume "v": no deletable volume plugin matched',
  ],
  [
    'is released and nobody empties has failed',
    volume({ claimRef, persistentVolumeReclaimPolicy: 'Recycle' }, 'Released'),
    undefined,
    'Failed: VolumeFailedRecycle: No recycler plugin found for the volume!',
  ],
  [
    'has failed stays so when it is retained now',
    volume({ claimRef, persistentVolumeReclaimPolicy: 'Retain' }, 'Failed'),
    undefined,
    'Failed',
  ],
];

for (const [what, object, owner, expected] of cases) {
  test(`PV3: a volume that ${what}`, () => assert.equal(told(planVolume(object, owner)), expected));
}
