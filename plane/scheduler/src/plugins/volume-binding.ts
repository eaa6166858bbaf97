import {
  formatKey,
  isVolumeOfClaim,
  keyOf,
  nodes,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type Pod,
  persistentVolumeClaims,
  persistentVolumes,
  storageAnnotations,
  storageClasses,
} from '@castellan/machinery';
import type { ReconcileContext } from '@castellan/runtime';
import { hint, type PreBindState, type Refusal, refused, type SchedulerPlugin } from '../plugin.js';
import { usesClaim, usesClaims } from './claim-use.js';
import { isFullyBound, isReachable, type VolumePlan, volumeNeeds, volumePlan } from './volume-needs.js';

/**
 * A pod goes where its volumes are. For claims that wait for it, free volumes are bound or new ones are asked for on the node
 * that was chosen, and the pod is bound when they are there. Source: upstream's VolumeBinding.
 */
export function volumeBinding(): SchedulerPlugin {
  const reserved = new Reservations();
  return {
    name: 'VolumeBinding',
    hints: [
      hint({ type: persistentVolumeClaims, mayHelp: (pod, { object }) => usesClaim(pod, keyOf(object)) }),
      hint({ type: persistentVolumes, mayHelp: (pod, { object }) => mayBeFor(pod, object) }),
      hint({ type: storageClasses, mayHelp: (pod, change) => change.kind !== 'deleted' && usesClaims(pod) }),
      hint({
        type: nodes,
        mayHelp: (_, change) =>
          change.kind === 'added' ||
          (change.kind === 'updated' && change.object.metadata.labels !== change.previous.metadata.labels),
      }),
    ],
    filterOf(pod, { cache }) {
      const needs = volumeNeeds(pod, cache, reserved);
      if (needs === undefined) return undefined;
      if (typeof needs === 'string') return refused(needs);
      return ({ node }) => {
        const plan = volumePlan(needs, node);
        return isRefusal(plan) ? refused(...plan) : undefined;
      };
    },
    reserve(pod, nodeName, { cache, cluster }) {
      const needs = volumeNeeds(pod, cache, reserved);
      const node = cluster.node(nodeName)?.node;
      if (needs === undefined || typeof needs === 'string' || node === undefined) return undefined;
      const plan = volumePlan(needs, node);
      if (isRefusal(plan) || plan.bindings.length + plan.provisions.length === 0) return undefined;
      return reserved.add(pod, nodeName, plan);
    },
    preBind(pod, nodeName, context) {
      const reservation = reserved.of(pod);
      return reservation === undefined ? undefined : carryOut(reservation, nodeName, context);
    },
  };
}

function isRefusal(plan: VolumePlan | readonly string[]): plan is readonly string[] {
  return Array.isArray(plan);
}

/** It is free, or refers to a claim of the pod. */
function mayBeFor(pod: Pod, { spec }: PersistentVolume): boolean {
  const { namespace, name } = spec?.claimRef ?? {};
  return name === undefined
    ? usesClaims(pod)
    : usesClaim(pod, { name, ...(namespace === undefined ? {} : { namespace }) });
}

interface Reservation {
  readonly nodeName: string;
  readonly plan: VolumePlan;
  /** Claims in which the node's name was written: where it is gone again, the volume could not be made. */
  readonly announced: Set<string>;
  end(): void;
}

/** What was promised to pods that are on their way to a node, by the pod's uid. */
class Reservations {
  readonly #byPod = new Map<string, Reservation>();

  add({ metadata: { uid = '' } }: Pod, nodeName: string, plan: VolumePlan): () => void {
    const end = () => this.#byPod.delete(uid);
    this.#byPod.set(uid, { nodeName, plan, announced: new Set(), end });
    return end;
  }

  of({ metadata: { uid = '' } }: Pod): Reservation | undefined {
    return this.#byPod.get(uid);
  }

  claimOf(volumeName: string): string | undefined {
    for (const { plan } of this.#byPod.values()) {
      const binding = plan.bindings.find(({ volume }) => volume.metadata.name === volumeName);
      if (binding !== undefined) return formatKey(keyOf(binding.claim));
    }
    return undefined;
  }

  nodeOf(claimKey: string): string | undefined {
    for (const { plan, nodeName } of this.#byPod.values()) {
      const claims = [...plan.provisions, ...plan.bindings.map(({ claim }) => claim)];
      if (claims.some((claim) => formatKey(keyOf(claim)) === claimKey)) return nodeName;
    }
    return undefined;
  }
}

/** When all is bound the cache shows it, and nothing has to be remembered. */
async function carryOut(reservation: Reservation, nodeName: string, context: ReconcileContext): Promise<PreBindState> {
  const state = await bindVolumes(reservation, nodeName, context);
  if (state === 'ready') reservation.end();
  return state;
}

/** Writes what is not written yet, and says whether all is bound. May be called again and again. */
async function bindVolumes(
  { plan, announced }: Reservation,
  nodeName: string,
  context: ReconcileContext,
): Promise<PreBindState> {
  let isWaiting = false;
  for (const { claim, volume } of plan.bindings) {
    const state = await bindVolume(claim, volume, context);
    if (typeof state === 'object') return state;
    isWaiting ||= state === 'waiting';
  }
  for (const claim of plan.provisions) {
    const state = await provision(claim, { nodeName, announced }, context);
    if (typeof state === 'object') return state;
    isWaiting ||= state === 'waiting';
  }
  return isWaiting ? 'waiting' : 'ready';
}

async function bindVolume(
  { metadata }: PersistentVolumeClaim,
  { metadata: { name = '' } }: PersistentVolume,
  { cache, client, signal }: ReconcileContext,
): Promise<PreBindState> {
  const claim = cache.get(persistentVolumeClaims, keyOf({ metadata }));
  const volume = cache.get(persistentVolumes, { name });
  if (claim === undefined || claim.metadata.uid !== metadata.uid)
    return failed(`persistentvolumeclaim "${metadata.name}" not found`);
  if (volume === undefined) return failed(`persistentvolume "${name}" not found`);
  if (isFullyBound(claim)) return 'ready';
  const { claimRef } = volume.spec ?? {};
  if (claimRef?.uid === claim.metadata.uid) return 'waiting';
  if (claimRef !== undefined && !isVolumeOfClaim(volume, claim))
    return failed(`volume "${name}" already bound to a different claim.`);
  const { resourceVersion } = volume.metadata;
  const isKept = claimRef !== undefined;
  const annotations = isKept ? {} : { annotations: { [storageAnnotations.boundByController]: 'yes' } };
  const { namespace, uid } = claim.metadata;
  const reference = { kind: 'PersistentVolumeClaim', apiVersion: 'v1', namespace, name: claim.metadata.name, uid };
  const body = {
    metadata: { resourceVersion, ...annotations },
    spec: { claimRef: { ...reference, resourceVersion: claim.metadata.resourceVersion } },
  };
  await client.patch(persistentVolumes, { name }, { type: 'merge', body }, { signal });
  return 'waiting';
}

async function provision(
  { metadata }: PersistentVolumeClaim,
  { nodeName, announced }: { readonly nodeName: string; readonly announced: Set<string> },
  { cache, client, signal }: ReconcileContext,
): Promise<PreBindState> {
  const { name = '', uid = '' } = metadata;
  const claim = cache.get(persistentVolumeClaims, keyOf({ metadata }));
  if (claim === undefined || claim.metadata.uid !== uid) return failed(`persistentvolumeclaim "${name}" not found`);
  if (isFullyBound(claim)) {
    const volume = cache.get(persistentVolumes, { name: claim.spec?.volumeName ?? '' });
    const node = cache.get(nodes, { name: nodeName });
    if (volume === undefined || node === undefined || isReachable(volume, node)) return 'ready';
    const which = `pv "${volume.metadata.name}" node affinity doesn't match node "${nodeName}"`;
    return failed(`${which}: no matching NodeSelectorTerms`);
  }
  if (claim.metadata.annotations?.[storageAnnotations.selectedNode] === nodeName) {
    announced.add(uid);
    return 'waiting';
  }
  // Who was to make the volume has taken the node's name away: it cannot.
  if (announced.has(uid)) return failed(`provisioning failed for PVC "${name}"`);
  const { resourceVersion } = claim.metadata;
  const body = { metadata: { resourceVersion, annotations: { [storageAnnotations.selectedNode]: nodeName } } };
  await client.patch(persistentVolumeClaims, keyOf(claim), { type: 'merge', body }, { signal });
  announced.add(uid);
  return 'waiting';
}

function failed(why: string): Refusal {
  return refused(`running PreBind plugin "VolumeBinding": binding volumes: ${why}`);
}
