import type { Pod } from '@castellan/machinery';
import { type AffinityTerm, preferredTerms, requiredTerms, type TermKind } from './affinity-term.js';
import { type HostPort, hostPortsOf } from './host-ports.js';
import { type Resources, requestsOf } from './resources.js';

/** What scheduling reads of a pod, worked out once: pods of a cache are frozen, and each is looked at again and again. */
export interface PodFacts {
  /** By name: `cpu` in thousandths of a core, all else in units, and one of `pods`. */
  readonly requests: Resources;
  /** As `requests`; but what is not asked for of cpu and memory is taken for a little. For scores. */
  readonly presumed: Resources;
  readonly hostPorts: readonly HostPort[];
  readonly terms: Readonly<Record<TermKind, readonly AffinityTerm[]>>;
  readonly priority: number;
  /** The uid of what made it. */
  readonly controller: string | undefined;
}

const known = new WeakMap<Pod, PodFacts>();

export function factsOf(pod: Pod): PodFacts {
  let facts = known.get(pod);
  if (facts === undefined) {
    facts = examine(pod);
    known.set(pod, facts);
  }
  return facts;
}

function examine(pod: Pod): PodFacts {
  const { podAffinity, podAntiAffinity } = pod.spec?.affinity ?? {};
  return {
    requests: requestsOf(pod),
    presumed: requestsOf(pod, 'presumed'),
    hostPorts: hostPortsOf(pod),
    terms: {
      requiredNear: requiredTerms(pod, podAffinity?.requiredDuringSchedulingIgnoredDuringExecution),
      requiredAway: requiredTerms(pod, podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution),
      preferredNear: preferredTerms(pod, podAffinity?.preferredDuringSchedulingIgnoredDuringExecution),
      preferredAway: preferredTerms(pod, podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution),
    },
    priority: pod.spec?.priority ?? 0,
    controller: pod.metadata.ownerReferences?.find(({ controller }) => controller === true)?.uid,
  };
}

export function priorityOf(pod: Pod): number {
  return pod.spec?.priority ?? 0;
}

/** Its containers are done: it takes nothing any more. */
export function hasFinished({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}
