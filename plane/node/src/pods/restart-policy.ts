import type { Container, PodSpec } from '@castellan/machinery';

export type RestartPolicy = 'Always' | 'OnFailure' | 'Never';

interface RestartRule {
  readonly isIn: boolean;
  readonly values: readonly number[];
}

/**
 * Whether a container that ended so runs again. A container's own rules come first, then its own policy, then the pod's
 * (KEP-5307); init containers of a pod that restarts always do not run again once they have ended well.
 */
export function restarts(spec: PodSpec | undefined, container: Container, exitCode: number): boolean {
  if (rulesOf(container).some(({ isIn, values }) => values.includes(exitCode) === isIn)) return true;
  const policy = restartPolicyOf(spec, container);
  return policy === 'Always' || (policy === 'OnFailure' && exitCode !== 0);
}

/** A sidecar: an init container that runs for as long as the pod. */
export function isSidecar({ restartPolicy }: Container): boolean {
  return restartPolicy === 'Always';
}

function restartPolicyOf(spec: PodSpec | undefined, container: Container): RestartPolicy {
  if (container.restartPolicy !== undefined) return parsePolicy(container.restartPolicy);
  const policy = parsePolicy(spec?.restartPolicy);
  return policy === 'Always' && spec?.initContainers?.includes(container) === true ? 'OnFailure' : policy;
}

function parsePolicy(text: string | undefined): RestartPolicy {
  return text === 'Never' || text === 'OnFailure' ? text : 'Always';
}

/** Younger than the published types. Rules of other actions than `Restart` are not followed. */
function rulesOf(container: Container): readonly RestartRule[] {
  const rules: unknown = 'restartPolicyRules' in container ? container.restartPolicyRules : undefined;
  if (!Array.isArray(rules)) return [];
  return rules.flatMap((rule: unknown) => {
    if (!isRecord(rule) || rule.action !== 'Restart' || !isRecord(rule.exitCodes)) return [];
    const { operator, values } = rule.exitCodes;
    return Array.isArray(values) ? [{ isIn: operator === 'In', values: values.map(Number) }] : [];
  });
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
