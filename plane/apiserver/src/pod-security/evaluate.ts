import { baselineChecks } from './baseline-checks.js';
import type { PodCheck, PodShape, Violation } from './pod-check.js';
import type { LevelVersion } from './policy-of-labels.js';
import { restrictedChecks } from './restricted-checks.js';

/** What of a pod a level of the Pod Security Standards forbids; the baseline's rules come first, each by its name. */
export function violationsOf(pod: PodShape, { level, minor }: LevelVersion): readonly Violation[] {
  if (level === 'privileged') return [];
  const asked = level === 'baseline' ? baselineChecks : [...baselineChecks, ...restrictedChecks];
  const active = asked.flatMap((check) => {
    const version = versionOf(check, minor ?? Number.POSITIVE_INFINITY);
    return version === undefined ? [] : [{ check, find: version.find }];
  });
  const overridden = new Set(active.map(({ check }) => check.overrides));
  return active.flatMap(({ check, find }) => (overridden.has(check.id) ? [] : (find(pod) ?? [])));
}

function versionOf({ versions }: PodCheck, minor: number): PodCheck['versions'][number] | undefined {
  return versions.find(({ since }) => since <= minor);
}

export function reasonsOf(violations: readonly Violation[]): string {
  return violations.map(({ reason }) => reason).join(', ');
}

export function detailsOf(violations: readonly Violation[]): string {
  return violations.map(({ reason, detail }) => `${reason} (${detail})`).join(', ');
}
