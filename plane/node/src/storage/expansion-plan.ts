import {
  compareQuantities,
  deepEqual,
  isConditionTrue,
  type PersistentVolume,
  type PersistentVolumeClaim,
  setCondition,
  storageAmount,
} from '@castellan/machinery';
import { excessOf } from './provision-plan.js';

type ClaimStatus = NonNullable<PersistentVolumeClaim['status']>;

export type ExpansionPlan =
  | { readonly kind: 'nothing' }
  /** Said in the claim before anything is done. */
  | { readonly kind: 'begin'; readonly status: ClaimStatus }
  | { readonly kind: 'grow volume'; readonly storage: string }
  | { readonly kind: 'finish'; readonly status: ClaimStatus }
  /** `status` is absent where the claim says so already. */
  | { readonly kind: 'refuse'; readonly reason: string; readonly status?: ClaimStatus };

export interface ExpansionSurroundings {
  /** The one that the claim is bound to. */
  readonly volume: PersistentVolume;
  readonly totalBytes: number;
  /** RFC 3339. */
  readonly now: string;
}

/**
 * The next step for a claim that asks for more than it has. A directory has no size of its own, so nothing is left to do on
 * the node when the volume's object is larger: there is no FileSystemResizePending. Pure. Source: KEP-1790 and upstream's
 * external-resizer, whose words these are.
 */
export function planExpansion(claim: PersistentVolumeClaim, around: ExpansionSurroundings): ExpansionPlan {
  const { status = {} } = claim;
  const asked = claim.spec?.resources?.requests?.storage;
  const wanted = storageAmount(claim.spec?.resources?.requests);
  if (status.phase !== 'Bound' || asked === undefined || claim.metadata.deletionTimestamp !== undefined) {
    return { kind: 'nothing' };
  }
  if (compareQuantities(wanted, storageAmount(status.capacity)) <= 0) return planSettled(status);
  const excess = excessOf(claim, around.totalBytes);
  if (excess !== undefined) return refusal(status, excess, around.now);
  const begun = begunStatus(status, asked, around.now);
  if (!deepEqual(begun, status)) return { kind: 'begin', status: begun };
  const { capacity } = around.volume.spec ?? {};
  if (compareQuantities(storageAmount(capacity), wanted) < 0) return { kind: 'grow volume', storage: asked };
  return { kind: 'finish', status: finishedStatus(status, { ...status.capacity, storage: asked }) };
}

/** One who asked for too much may ask for less again, down to what there is: nothing is under way then. */
function planSettled(status: ClaimStatus): ExpansionPlan {
  const finished = finishedStatus(status, status.capacity ?? {});
  return deepEqual(finished, status) ? { kind: 'nothing' } : { kind: 'finish', status: finished };
}

function begunStatus(status: ClaimStatus, storage: string, now: string): ClaimStatus {
  const others = (status.conditions ?? []).filter(({ type }) => type !== 'ControllerResizeError');
  return {
    ...status,
    allocatedResources: { ...status.allocatedResources, storage },
    allocatedResourceStatuses: { ...status.allocatedResourceStatuses, storage: 'ControllerResizeInProgress' },
    // The server adds fields of its own to a condition: one that is there stays as it is.
    conditions: isConditionTrue(others, 'Resizing')
      ? others
      : setCondition(others, { type: 'Resizing', status: 'True' }, now),
  };
}

function finishedStatus(status: ClaimStatus, capacity: NonNullable<ClaimStatus['capacity']>): ClaimStatus {
  const { conditions = [], allocatedResourceStatuses = {}, ...rest } = status;
  const { storage: _, ...otherStatuses } = allocatedResourceStatuses;
  const others = conditions.filter(({ type }) => type !== 'Resizing' && type !== 'ControllerResizeError');
  return {
    ...rest,
    capacity,
    ...(others.length === 0 ? {} : { conditions: others }),
    ...(Object.keys(otherStatuses).length === 0 ? {} : { allocatedResourceStatuses: otherStatuses }),
  };
}

function refusal(status: ClaimStatus, reason: string, now: string): ExpansionPlan {
  const { conditions = [] } = status;
  const isSaid =
    isConditionTrue(conditions, 'ControllerResizeError') &&
    conditions.some(({ type, message }) => type === 'ControllerResizeError' && message === reason);
  if (isSaid) return { kind: 'refuse', reason };
  const others = conditions.filter(({ type }) => type !== 'Resizing');
  const failed = { type: 'ControllerResizeError', status: 'True', message: reason };
  return {
    kind: 'refuse',
    reason,
    status: {
      ...status,
      allocatedResourceStatuses: { ...status.allocatedResourceStatuses, storage: 'ControllerResizeInfeasible' },
      conditions: setCondition(others, failed, now),
    },
  };
}
