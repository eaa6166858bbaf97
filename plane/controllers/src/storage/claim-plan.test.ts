import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from '@castellan/machinery';
import { type ClaimPlan, type ClaimSurroundings, planClaim } from './claim-plan.js';

const bound = { 'pv.kubernetes.io/bind-completed': 'yes' };

function claim(
  spec: PersistentVolumeClaim['spec'] = {},
  annotations: Record<string, string> = {},
): PersistentVolumeClaim {
  return {
    metadata: { namespace: 'team', name: 'data', uid: 'claim-1', annotations },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '2Gi' } }, ...spec },
  };
}

function volume(name: string, spec: PersistentVolume['spec'] = {}, phase = 'Available'): PersistentVolume {
  return {
    metadata: { name },
    spec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '2Gi' }, ...spec },
    status: { phase },
  };
}

const reference = { namespace: 'team', name: 'data' };

function storageClass(name: string, volumeBindingMode: string, provisioner = 'example.com/disks'): StorageClass {
  return { metadata: { name }, provisioner, volumeBindingMode };
}

function around(given: {
  readonly volumes?: readonly PersistentVolume[];
  readonly classes?: readonly StorageClass[];
  readonly defaultClass?: string;
  readonly unscheduledPods?: readonly string[];
}): ClaimSurroundings {
  const { volumes = [], classes = [], defaultClass, unscheduledPods = [] } = given;
  return {
    volumes,
    volume: (name) => volumes.find(({ metadata }) => metadata.name === name),
    storageClass: (name) => classes.find(({ metadata }) => metadata.name === name),
    defaultClass,
    unscheduledPods,
  };
}

/** Short: `bind v`, or the kind and the reason of the event. */
function told(plan: ClaimPlan): string {
  switch (plan.kind) {
    case 'bind':
      return `bind ${plan.volume.metadata.name}`;
    case 'assign class':
      return `class ${plan.className}`;
    case 'provision':
      return `ask ${plan.provisioner}`;
    default:
      return plan.event === undefined ? plan.kind : `${plan.kind}: ${plan.event.reason}: ${plan.event.message}`;
  }
}

const noClass = 'FailedBinding: no persistent volumes available for this claim and no storage class is set';
const later = storageClass('later', 'WaitForFirstConsumer');

const open: readonly (readonly [string, PersistentVolumeClaim, ClaimSurroundings, string])[] = [
  ['nothing is there', claim(), around({}), `wait: ${noClass}`],
  [
    'the smallest that is large enough is taken',
    claim(),
    around({
      volumes: [
        volume('large', { capacity: { storage: '9Gi' } }),
        volume('small', { capacity: { storage: '1Gi' } }),
        volume('fitting', { capacity: { storage: '3Gi' } }),
      ],
    }),
    'bind fitting',
  ],
  [
    'fewer access modes count before size',
    claim(),
    around({
      volumes: [
        volume('shared', { accessModes: ['ReadWriteOnce', 'ReadWriteMany'] }),
        volume('single', { capacity: { storage: '3Gi' } }),
      ],
    }),
    'bind single',
  ],
  [
    'what has not all access modes, another mode, class or phase, or is going, is passed over',
    claim({ accessModes: ['ReadWriteMany'] }),
    around({
      volumes: [
        volume('once'),
        volume('block', { accessModes: ['ReadWriteMany'], volumeMode: 'Block' }),
        volume('classy', { accessModes: ['ReadWriteMany'], storageClassName: 'later' }),
        volume('released', { accessModes: ['ReadWriteMany'] }, 'Released'),
        { ...volume('going', { accessModes: ['ReadWriteMany'] }), metadata: { name: 'going', deletionTimestamp: 't' } },
      ],
    }),
    `wait: ${noClass}`,
  ],
  [
    'labels are looked at where the claim has a selector',
    claim({ selector: { matchLabels: { disk: 'fast' } } }),
    around({ volumes: [volume('slow'), { ...volume('fast'), metadata: { name: 'fast', labels: { disk: 'fast' } } }] }),
    'bind fast',
  ],
  [
    'what is kept for the claim comes before all, whatever its class and phase',
    claim(),
    around({ volumes: [volume('free'), volume('kept', { claimRef: reference, storageClassName: 'x' }, 'Pending')] }),
    'bind kept',
  ],
  [
    'what was kept for an earlier claim of the name is not for this one',
    claim(),
    around({ volumes: [volume('old', { claimRef: { ...reference, uid: 'claim-0' } }, 'Released')] }),
    `wait: ${noClass}`,
  ],
  [
    'a claim that says no class gets the default one, also later',
    claim(),
    around({ defaultClass: 'later', classes: [later] }),
    'class later',
  ],
  [
    'an empty class is a wish for none',
    claim({ storageClassName: '' }),
    around({ defaultClass: 'later' }),
    `wait: ${noClass}`,
  ],
  [
    'a class that waits for a pod gives no free volume before there is one',
    claim({ storageClassName: 'later' }),
    around({ classes: [later], volumes: [volume('free', { storageClassName: 'later' })] }),
    'wait: WaitForFirstConsumer: waiting for first consumer to be created before binding',
  ],
  [
    'the pods that it waits for are named',
    claim({ storageClassName: 'later' }),
    around({ classes: [later], unscheduledPods: ['a', 'b'] }),
    'wait: WaitForPodScheduled: waiting for pods a,b to be scheduled',
  ],
  [
    'when the pod has a node the provisioner is asked',
    claim({ storageClassName: 'later' }, { 'volume.kubernetes.io/selected-node': 'n' }),
    around({ classes: [later] }),
    'ask example.com/disks',
  ],
  [
    'a class that does not wait asks at once',
    claim({ storageClassName: 'now' }),
    around({ classes: [storageClass('now', 'Immediate')] }),
    'ask example.com/disks',
  ],
  [
    'a class that is not there is told',
    claim({ storageClassName: 'nope' }),
    around({}),
    'wait: ProvisioningFailed: storageclass.storage.k8s.io "nope" not found',
  ],
  [
    'nobody provisions for a class without a provisioner',
    claim({ storageClassName: 'static' }),
    around({ classes: [storageClass('static', 'Immediate', 'kubernetes.io/no-provisioner')] }),
    'wait: ProvisioningFailed: no volume plugin matched name: kubernetes.io/no-provisioner',
  ],
];

for (const [what, object, surroundings, expected] of open) {
  test(`PV1: of a claim that names no volume: ${what}`, () => {
    assert.equal(told(planClaim(object, surroundings)), expected);
  });
}

const named: readonly (readonly [string, PersistentVolume | undefined, string])[] = [
  ['is not there', undefined, 'wait'],
  ['is free', volume('v'), 'bind v'],
  ['is kept for the claim', volume('v', { claimRef: reference }), 'bind v'],
  [
    "is another's",
    volume('v', { claimRef: { namespace: 'team', name: 'other', uid: 'o' } }, 'Bound'),
    'wait: FailedBinding: volume "v" already bound to a different claim.',
  ],
  [
    'is too small',
    volume('v', { capacity: { storage: '1Gi' } }),
    'wait: VolumeMismatch: Cannot bind to requested volume "v": requested PV is too small',
  ],
  [
    'has another class',
    volume('v', { storageClassName: 'x' }),
    'wait: VolumeMismatch: Cannot bind to requested volume "v": storageClassName does not match',
  ],
  [
    'is a block device',
    volume('v', { volumeMode: 'Block' }),
    'wait: VolumeMismatch: Cannot bind to requested volume "v": incompatible volumeMode',
  ],
  [
    'is for readers',
    volume('v', { accessModes: ['ReadOnlyMany'] }),
    'wait: VolumeMismatch: Cannot bind to requested volume "v": incompatible accessMode',
  ],
];

for (const [what, found, expected] of named) {
  test(`PV1: the volume that a claim names ${what}`, () => {
    const plan = planClaim(claim({ volumeName: 'v' }), around({ volumes: found === undefined ? [] : [found] }));
    assert.equal(told(plan), expected);
  });
}

const once: readonly (readonly [string, string, PersistentVolume | undefined, string])[] = [
  [
    'lost the name of it',
    '',
    undefined,
    'lose: ClaimLost: Bound claim has lost reference to PersistentVolume. Data on the volume is lost!',
  ],
  [
    'lost the volume',
    'v',
    undefined,
    'lose: ClaimLost: Bound claim has lost its PersistentVolume. Data on the volume is lost!',
  ],
  ['has a volume that forgot it', 'v', volume('v'), 'bind v'],
  ['has its volume', 'v', volume('v', { claimRef: { ...reference, uid: 'claim-1' } }, 'Bound'), 'bind v'],
  [
    "has what is another's",
    'v',
    volume('v', { claimRef: { ...reference, uid: 'claim-0' } }, 'Bound'),
    'lose: ClaimMisbound: Two claims are bound to the same volume, this one is bound incorrectly',
  ],
];

for (const [what, volumeName, found, expected] of once) {
  test(`PV2: a claim that was bound and ${what}`, () => {
    const plan = planClaim(claim({ volumeName }, bound), around({ volumes: found === undefined ? [] : [found] }));
    assert.equal(told(plan), expected);
  });
}
