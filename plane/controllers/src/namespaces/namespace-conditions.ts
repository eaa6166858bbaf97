import type { Condition } from '@castellan/machinery';
import type { Discovery } from '../discovery.js';
import type { Remains } from './namespace-content.js';

interface Finding {
  readonly type: string;
  /** Why the deletion does not end yet; '' when this is not the reason. */
  readonly problem: string;
  readonly reasonIfProblem: string;
  readonly reasonIfNone: string;
  readonly messageIfNone: string;
}

/**
 * A terminating namespace's conditions, with upstream's types, reasons and messages; `existing` keep their transition
 * times. The same array when nothing changed.
 */
export function planConditions(
  existing: readonly Condition[],
  discovery: Discovery,
  remains: Remains,
  now: string,
): readonly Condition[] {
  const conditions = findings(discovery, remains).map((finding): Condition => {
    const isProblem = finding.problem !== '';
    const condition = {
      type: finding.type,
      status: isProblem ? 'True' : 'False',
      reason: isProblem ? finding.reasonIfProblem : finding.reasonIfNone,
      message: isProblem ? finding.problem : finding.messageIfNone,
    };
    const before = existing.find(({ type }) => type === finding.type);
    const isSame = before?.status === condition.status;
    return { ...condition, lastTransitionTime: (isSame ? before.lastTransitionTime : undefined) ?? now };
  });
  const isUnchanged = conditions.every((condition) => existing.some((before) => isSameCondition(before, condition)));
  return isUnchanged ? existing : conditions;
}

function isSameCondition(a: Condition, b: Condition): boolean {
  return a.type === b.type && a.status === b.status && a.reason === b.reason && a.message === b.message;
}

function findings(discovery: Discovery, remains: Remains): readonly Finding[] {
  return [
    {
      type: 'NamespaceDeletionDiscoveryFailure',
      problem:
        discovery.failed.length === 0
          ? ''
          : `Discovery failed for some groups, ${discovery.failed.length} failing: ${discovery.failed.join(', ')}`,
      reasonIfProblem: 'DiscoveryFailed',
      reasonIfNone: 'ResourcesDiscovered',
      messageIfNone: 'All resources successfully discovered',
    },
    {
      type: 'NamespaceDeletionGroupVersionParsingFailure',
      problem: '',
      reasonIfProblem: 'GroupVersionParsingFailed',
      reasonIfNone: 'ParsedGroupVersions',
      messageIfNone: 'All legacy kube types successfully parsed',
    },
    {
      type: 'NamespaceDeletionContentFailure',
      problem:
        remains.failures.length === 0
          ? ''
          : `Failed to delete all resource types, ${remains.failures.length} remaining: ${remains.failures.join(', ')}`,
      reasonIfProblem: 'ContentDeletionFailed',
      reasonIfNone: 'ContentDeleted',
      messageIfNone: 'All content successfully deleted, may be waiting on finalization',
    },
    {
      type: 'NamespaceContentRemaining',
      problem: summary('Some resources are remaining: ', remains.objects, (resource, count) => {
        return `${resource} has ${count} resource instances`;
      }),
      reasonIfProblem: 'SomeResourcesRemain',
      reasonIfNone: 'ContentRemoved',
      messageIfNone: 'All content successfully removed',
    },
    {
      type: 'NamespaceFinalizersRemaining',
      problem: summary(
        'Some content in the namespace has finalizers remaining: ',
        remains.finalizers,
        (name, count) => {
          return `${name} in ${count} resource instances`;
        },
      ),
      reasonIfProblem: 'SomeFinalizersRemain',
      reasonIfNone: 'ContentHasNoFinalizers',
      messageIfNone: 'All content-preserving finalizers finished',
    },
  ];
}

function summary(start: string, counts: ReadonlyMap<string, number>, part: (key: string, count: number) => string) {
  if (counts.size === 0) return '';
  const parts = [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, count]) => part(key, count));
  return `${start}${parts.join(', ')}`;
}
