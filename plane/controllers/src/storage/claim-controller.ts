import {
  claimsOfPod,
  formatKey,
  isStatusError,
  keyOf,
  type ObjectKey,
  type PersistentVolumeClaim,
  type Pod,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  type StorageClass,
  storageAnnotations,
  storageClasses,
  storageClassOf,
} from '@castellan/machinery';
import {
  type Channel,
  type Controller,
  index,
  type Reader,
  type ReconcileContext,
  watchSource,
} from '@castellan/runtime';
import { hasEnded } from '../workloads/pod-state.js';
import { bindClaim } from './bind-claim.js';
import { type ClaimSurroundings, planClaim } from './claim-plan.js';
import { claimReferredTo } from './claim-reference.js';

/** Volumes by their class, `class NAME`, and by the claim that they refer to, `claim NAMESPACE/NAME`. */
const volumesByUse = index(persistentVolumes, 'use', (volume) => {
  const claim = claimReferredTo(volume);
  return [`class ${storageClassOf(volume)}`, ...(claim === undefined ? [] : [`claim ${formatKey(claim)}`])];
});

const podsByClaim = index(pods, 'claim', (pod) => claimsOfPod(pod).map(formatKey));

/**
 * Gives claims their volumes: one that is kept for them, one that is free, or one that a provisioner is asked to make.
 * One claim at a time: each choice sees what the ones before it took. Volumes of claims that are gone are sent to `released`.
 * Named as the source of its events is upstream.
 */
export function claimController(released: Channel): Controller<PersistentVolumeClaim> {
  // Claims without a volume: what becomes free wakes those of its class, and those that name it.
  const waiting = new Map<string, WaitingClaim>();
  const wake = (isConcerned: (claim: WaitingClaim) => boolean) =>
    [...waiting.values()].filter(isConcerned).map(({ key }) => key);
  return {
    name: 'persistentvolume-controller',
    for: persistentVolumeClaims,
    watches: [
      watchSource({
        type: persistentVolumes,
        map: (volume) => {
          const claim = claimReferredTo(volume);
          const name = volume.metadata.name ?? '';
          const className = storageClassOf(volume);
          const isWanted = (other: WaitingClaim) =>
            other.volumeName === name || (claim === undefined && other.className === className);
          return [...(claim === undefined ? [] : [claim]), ...wake(isWanted)];
        },
      }),
      watchSource({
        type: storageClasses,
        map: ({ metadata }) => wake(({ className }) => className === metadata.name || className === ''),
      }),
      // Only to know them: a pod that comes is the scheduler's, which then names its node in the claim.
      watchSource({ type: pods, map: () => [] }),
    ],
    indexes: [volumesByUse, podsByClaim],
    concurrency: 1,
    async reconcile(key, context) {
      const claim = context.cache.get(persistentVolumeClaims, key);
      const isOpen =
        claim !== undefined && claim.metadata.annotations?.[storageAnnotations.bindCompleted] === undefined;
      if (isOpen) waiting.set(formatKey(key), waitingClaim(key, claim));
      else waiting.delete(formatKey(key));
      for (const volume of context.cache.byIndex(volumesByUse, `claim ${formatKey(key)}`)) {
        if (volume.spec?.claimRef?.uid !== claim?.metadata.uid) released.offer(volume);
      }
      if (claim !== undefined) await carryOut(claim, context);
      return undefined;
    },
  };
}

interface WaitingClaim {
  readonly key: ObjectKey;
  readonly className: string;
  /** Empty when any will do. */
  readonly volumeName: string;
}

function waitingClaim(key: ObjectKey, claim: PersistentVolumeClaim): WaitingClaim {
  return { key, className: storageClassOf(claim), volumeName: claim.spec?.volumeName ?? '' };
}

async function carryOut(claim: PersistentVolumeClaim, context: ReconcileContext): Promise<void> {
  const plan = planClaim(claim, surroundings(claim, context.cache));
  try {
    switch (plan.kind) {
      case 'bind':
        return await bindClaim(claim, plan.volume, context);
      case 'assign class':
        return await patchClaim(claim, { spec: { storageClassName: plan.className } }, context);
      case 'provision':
        return await askProvisioner(claim, plan.provisioner, context);
      case 'wait':
        if (plan.event !== undefined) context.events.record(claim, plan.event);
        return await writeUnbound(claim, 'Pending', context);
      case 'lose':
        if (claim.status?.phase !== 'Lost') context.events.record(claim, plan.event);
        return await writeUnbound(claim, 'Lost', context);
    }
  } catch (error) {
    // Deleted meanwhile: the watch says so in a moment.
    if (!isStatusError(error, 'NotFound')) throw error;
  }
}

function surroundings(claim: PersistentVolumeClaim, cache: Reader): ClaimSurroundings {
  const key = formatKey(keyOf(claim));
  const kept = cache.byIndex(volumesByUse, `claim ${key}`);
  const ofClass = cache.byIndex(volumesByUse, `class ${storageClassOf(claim)}`);
  return {
    volumes: [...kept, ...ofClass],
    volume: (name) => cache.get(persistentVolumes, { name }),
    storageClass: (name) => (name === '' ? undefined : cache.get(storageClasses, { name })),
    defaultClass: defaultClassOf(cache.list(storageClasses)),
    unscheduledPods: cache
      .byIndex(podsByClaim, key)
      .filter(isUnscheduled)
      .map(({ metadata }) => metadata.name ?? ''),
  };
}

/** The newest, where several are marked; of those the first by name. As admission chooses. */
function defaultClassOf(classes: readonly StorageClass[]): string | undefined {
  const marked = classes.filter(({ metadata }) => metadata.annotations?.[storageAnnotations.isDefaultClass] === 'true');
  const age = ({ metadata }: StorageClass) => metadata.creationTimestamp ?? '';
  const [newest] = [...marked].sort((a, b) =>
    age(a) === age(b) ? ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1) : age(a) < age(b) ? 1 : -1,
  );
  return newest?.metadata.name;
}

function isUnscheduled(pod: Pod): boolean {
  return (pod.spec?.nodeName ?? '') === '' && !hasEnded(pod);
}

/** The provisioner looks for its name in the claim. */
async function askProvisioner(
  claim: PersistentVolumeClaim,
  provisioner: string,
  context: ReconcileContext,
): Promise<void> {
  const { annotations = {} } = claim.metadata;
  const wanted = {
    [storageAnnotations.betaProvisioner]: provisioner,
    [storageAnnotations.provisioner]: provisioner,
  };
  const isAsked = Object.entries(wanted).every(([name, value]) => annotations[name] === value);
  if (isAsked) return;
  await patchClaim(claim, { metadata: { annotations: wanted } }, context);
  const message = `Waiting for a volume to be created either by the external provisioner '${provisioner}' or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered.`;
  context.events.record(claim, { type: 'Normal', reason: 'ExternalProvisioning', message });
}

async function patchClaim(
  claim: PersistentVolumeClaim,
  change: { readonly metadata?: object; readonly spec?: object },
  { client, signal }: ReconcileContext,
): Promise<void> {
  const { resourceVersion } = claim.metadata;
  const body = { ...change, metadata: { resourceVersion, ...change.metadata } };
  await client.patch(persistentVolumeClaims, keyOf(claim), { type: 'merge', body }, { signal });
}

async function writeUnbound(
  claim: PersistentVolumeClaim,
  phase: 'Pending' | 'Lost',
  { client, signal }: ReconcileContext,
): Promise<void> {
  const { status = {} } = claim;
  if (status.phase === phase && status.accessModes === undefined && status.capacity === undefined) return;
  const { resourceVersion } = claim.metadata;
  const body = { metadata: { resourceVersion }, status: { phase, accessModes: null, capacity: null } };
  const patch = { type: 'merge', body } as const;
  await client.patch(persistentVolumeClaims, keyOf(claim), patch, { subresource: 'status', signal });
}
