import type { SuccessPolicy } from '@castellan/machinery';
import { IndexSet } from './index-set.js';

/** The index of the first rule that the indexes that succeeded fulfil. Source: KEP-3998. */
export function fulfilledRule(
  policy: SuccessPolicy | undefined,
  succeeded: IndexSet,
  completions: number,
): number | undefined {
  if (succeeded.size === 0) return undefined;
  const found = (policy?.rules ?? []).findIndex(({ succeededIndexes, succeededCount }) => {
    if (succeededIndexes === undefined) return succeededCount !== undefined && succeeded.size >= succeededCount;
    const asked = IndexSet.parse(succeededIndexes, completions);
    const count = asked.overlap(succeeded);
    return asked.size > 0 && count >= Math.min(asked.size, succeededCount ?? asked.size);
  });
  return found < 0 ? undefined : found;
}
