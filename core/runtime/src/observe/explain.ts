import { formatKey, type ObjectKey, resourceName } from '@castellan/machinery';
import type { Manager } from '../manager/manager.js';
import type { KeyStatus } from '../manager/reconcile-history.js';

/** What one controller has to say of one object. */
export interface Explanation {
  readonly controller: string;
  readonly kind: string;
  /** `deployments.apps`. */
  readonly resource: string;
  /** Absent when it was not reconciled since the process began, or is gone. */
  readonly last?: KeyStatus;
  /** Whether the manager that the controller belongs to does anything now, and if not, why. */
  readonly idleBecause?: string;
}

/**
 * Why an object was reconciled, what that did, and what is waited for: of each controller that reconciles its kind.
 *
 * @param kind as people write it: a kind, or a plural with or without its group, in any case.
 */
export function explain(managers: Iterable<Manager>, kind: string, key: ObjectKey): readonly Explanation[] {
  const wanted = kind.toLowerCase();
  const found: Explanation[] = [];
  for (const manager of managers) {
    const { isReady, isLeader, controllers } = manager.status();
    const idleBecause = isReady
      ? isLeader
        ? undefined
        : 'another process holds the lease'
      : 'the first lists of what is watched are not complete';
    for (const { name, type, keys } of controllers) {
      const resource = resourceName(type);
      if (![type.kind.toLowerCase(), type.plural, resource].includes(wanted)) continue;
      const last = keys.find((status) => status.key === formatKey(key));
      found.push({
        controller: name,
        kind: type.kind,
        resource,
        ...(last !== undefined && { last }),
        ...(idleBecause !== undefined && { idleBecause }),
      });
    }
  }
  return found;
}
