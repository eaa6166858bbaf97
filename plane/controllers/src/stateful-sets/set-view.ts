import type { StatefulSet } from '@castellan/machinery';

/** What of a StatefulSet decides about its pods, with the defaults of the API filled in. */
export interface SetView {
  readonly name: string;
  readonly replicas: number;
  /** The first ordinal. */
  readonly start: number;
  /** One pod after the other, each only when those before it serve; else all at once. */
  readonly isOrdered: boolean;
  readonly minReadySeconds: number;
  readonly update: UpdateRule;
  readonly retention: ClaimRetention;
}

export type UpdateRule =
  | { readonly kind: 'on delete' }
  /** Pods before `partition`, counted from the first, stay as they are. No more than `maxUnavailable` are ended at a time. */
  | { readonly kind: 'rolling'; readonly partition: number; readonly maxUnavailable: number };

export interface ClaimRetention {
  readonly deleteWithSet: boolean;
  readonly deleteWhenScaled: boolean;
}

export function viewOf({ metadata, spec }: StatefulSet): SetView {
  const { replicas = 1, ordinals, podManagementPolicy, minReadySeconds = 0, updateStrategy } = spec ?? {};
  const { whenDeleted, whenScaled } = spec?.persistentVolumeClaimRetentionPolicy ?? {};
  const { partition = 0, maxUnavailable } = updateStrategy?.rollingUpdate ?? {};
  return {
    name: metadata.name ?? '',
    replicas,
    start: ordinals?.start ?? 0,
    isOrdered: podManagementPolicy !== 'Parallel',
    minReadySeconds,
    update:
      updateStrategy?.type === 'OnDelete'
        ? { kind: 'on delete' }
        : { kind: 'rolling', partition, maxUnavailable: podCount(maxUnavailable ?? 1, replicas) },
    retention: { deleteWithSet: whenDeleted === 'Delete', deleteWhenScaled: whenScaled === 'Delete' },
  };
}

/** A percentage is of the wanted pods, rounded down; never less than one. */
function podCount(amount: number | string, replicas: number): number {
  const isPercentage = typeof amount === 'string' && amount.endsWith('%');
  const count = isPercentage ? Math.floor((Number(amount.slice(0, -1)) * replicas) / 100) : Number(amount);
  return Math.max(1, count);
}
