import type { Pod, PodFailurePolicy } from '@castellan/machinery';

/** What a failed pod means to its Job. */
export interface FailureVerdict {
  /** Whether the failure counts towards `backoffLimit`. */
  readonly isCounted: boolean;
  readonly failsIndex: boolean;
  /** Why the whole Job fails; absent: it does not. */
  readonly failsJob?: string;
}

type Rule = PodFailurePolicy['rules'][number];
type ExitCodes = NonNullable<Rule['onExitCodes']>;

const counted: FailureVerdict = { isCounted: true, failsIndex: false };

/** The first rule of the policy that fits the pod decides; without one the failure is counted. Source: KEP-3329, KEP-3850. */
export function judgeFailure(policy: PodFailurePolicy | undefined, pod: Pod): FailureVerdict {
  for (const [index, rule] of (policy?.rules ?? []).entries()) {
    const found = fits(rule, pod);
    if (found === undefined) continue;
    switch (rule.action) {
      case 'Ignore':
        return { isCounted: false, failsIndex: false };
      case 'FailIndex':
        return { isCounted: true, failsIndex: true };
      case 'FailJob':
        return { ...counted, failsJob: `${found} matching FailJob rule at index ${index}` };
      case 'Count':
        return counted;
    }
  }
  return counted;
}

/** What of the pod fits the rule, said of the pod. */
function fits({ onExitCodes, onPodConditions }: Rule, pod: Pod): string | undefined {
  const name = `${pod.metadata.namespace ?? ''}/${pod.metadata.name ?? ''}`;
  if (onExitCodes !== undefined) {
    const { containerStatuses = [], initContainerStatuses = [] } = pod.status ?? {};
    for (const { name: container, state } of [...containerStatuses, ...initContainerStatuses]) {
      const exitCode = state?.terminated?.exitCode;
      if (exitCode === undefined || !hasExitCode(onExitCodes, container, exitCode)) continue;
      return `Container ${container} for pod ${name} failed with exit code ${exitCode}`;
    }
    return undefined;
  }
  const condition = pod.status?.conditions?.find(({ type, status }) =>
    (onPodConditions ?? []).some((pattern) => pattern.type === type && (pattern.status ?? 'True') === status),
  );
  return condition === undefined ? undefined : `Pod ${name} has condition ${condition.type}`;
}

function hasExitCode({ containerName, operator, values }: ExitCodes, container: string, exitCode: number): boolean {
  if (exitCode === 0 || (containerName ?? container) !== container) return false;
  return values.includes(exitCode) === (operator === 'In');
}
