import {
  isStatusError,
  keyOf,
  type PersistentVolume,
  type PersistentVolumeClaim,
  persistentVolumeClaims,
  persistentVolumes,
} from '@castellan/machinery';
import { type Controller, type ReconcileContext, type ReconcileResult, watchSource } from '@castellan/runtime';
import { type ExpansionPlan, planExpansion } from './expansion-plan.js';
import { claimOf, localProvisioner, nodeOfVolume } from './local-volume.js';
import type { LocalStorageOptions } from './volume-store.js';

/** No watch tells that a node of this machine was started; looking costs no request. */
const lookForNodeMs = 30_000;
/** A disk may be exchanged for a larger one; no watch tells of it. */
const retryMs = 60_000;

/** Lets volumes of this machine's nodes grow with what their claims ask for. */
export function localResizerController(options: LocalStorageOptions): Controller<PersistentVolumeClaim> {
  return {
    name: `${localProvisioner}-resizer`,
    for: persistentVolumeClaims,
    watches: [watchSource({ type: persistentVolumes, map: claimOf })],
    concurrency: 1,
    async reconcile(key, context) {
      const claim = context.cache.get(persistentVolumeClaims, key);
      const volume = context.cache.get(persistentVolumes, { name: claim?.spec?.volumeName ?? '' });
      if (claim === undefined || volume === undefined || volume.spec?.claimRef?.uid !== claim.metadata.uid) {
        return undefined;
      }
      const nodeName = nodeOfVolume(volume);
      if (nodeName === undefined || isAtRest(claim)) return undefined;
      if (!options.runningNodes().includes(nodeName)) return { requeueAfterMs: lookForNodeMs };
      return await expand(claim, volume, options, context);
    },
  };
}

/** As most claims are most of the time. */
function isAtRest({ spec, status = {} }: PersistentVolumeClaim): boolean {
  const isEqual = spec?.resources?.requests?.storage === status.capacity?.storage;
  return isEqual && status.conditions === undefined && status.allocatedResourceStatuses === undefined;
}

/** Each write wakes this controller again, which then takes the next step. */
async function expand(
  claim: PersistentVolumeClaim,
  volume: PersistentVolume,
  { volumes }: LocalStorageOptions,
  context: ReconcileContext,
): Promise<ReconcileResult> {
  const { events, world } = context;
  const now = `${new Date(world.clock.now()).toISOString().slice(0, 19)}Z`;
  const { capacity } = claim.status ?? {};
  const isAtRest =
    claim.spec?.resources?.requests?.storage === capacity?.storage && claim.status?.conditions === undefined;
  if (isAtRest) return undefined;
  const plan = planExpansion(claim, { volume, now, totalBytes: volumes.totalBytes() });
  try {
    await carryOut(plan, claim, volume, context);
  } catch (error) {
    if (!isStatusError(error, 'NotFound')) throw error;
  }
  if (plan.kind !== 'refuse') return undefined;
  const message = `resize volume "${volume.metadata.name}" by resizer "${localProvisioner}" failed: ${plan.reason}`;
  if (plan.status !== undefined) events.record(claim, { type: 'Warning', reason: 'VolumeResizeFailed', message });
  return { requeueAfterMs: retryMs };
}

async function carryOut(
  plan: ExpansionPlan,
  claim: PersistentVolumeClaim,
  volume: PersistentVolume,
  context: ReconcileContext,
): Promise<void> {
  const { events } = context;
  switch (plan.kind) {
    case 'begin': {
      await writeStatus(claim, plan.status, context);
      const message = `External resizer is resizing volume ${volume.metadata.name}`;
      events.record(claim, { type: 'Normal', reason: 'Resizing', message });
      return;
    }
    case 'grow volume':
      return await growVolume(volume, plan.storage, context);
    case 'finish': {
      const isGrown = plan.status.capacity?.storage !== claim.status?.capacity?.storage;
      await writeStatus(claim, plan.status, context);
      if (isGrown) {
        events.record(claim, { type: 'Normal', reason: 'VolumeResizeSuccessful', message: 'Resize volume succeeded' });
      }
      return;
    }
    case 'refuse':
      if (plan.status !== undefined) await writeStatus(claim, plan.status, context);
      return;
    case 'nothing':
      return;
  }
}

async function growVolume(
  volume: PersistentVolume,
  storage: string,
  { client, signal }: ReconcileContext,
): Promise<void> {
  const { resourceVersion } = volume.metadata;
  const body = { metadata: { resourceVersion }, spec: { capacity: { storage } } };
  await client.patch(persistentVolumes, keyOf(volume), { type: 'merge', body }, { signal });
}

async function writeStatus(
  claim: PersistentVolumeClaim,
  status: PersistentVolumeClaim['status'],
  { client, signal }: ReconcileContext,
): Promise<void> {
  await client.update(persistentVolumeClaims, { ...claim, status: status ?? {} }, { subresource: 'status', signal });
}
