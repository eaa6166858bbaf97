import { type LabelSelector, labelSelectorOf, matchesLabels, type Pod, type PodSpec } from '@castellan/machinery';

type Affinity = NonNullable<PodSpec['affinity']>;
type Term = NonNullable<NonNullable<Affinity['podAffinity']>['requiredDuringSchedulingIgnoredDuringExecution']>[number];
type Preferred = NonNullable<
  NonNullable<Affinity['podAffinity']>['preferredDuringSchedulingIgnoredDuringExecution']
>[number];

export type Labels = Readonly<Record<string, string>>;

/** The ways in which a pod that is there bears on one that comes. */
export type TermKind = 'requiredAway' | 'requiredNear' | 'preferredAway' | 'preferredNear';

/** A term of a pod's affinity or anti-affinity, ready to be matched. */
export interface AffinityTerm {
  /** The same for the terms of all pods of one template. */
  readonly key: string;
  readonly topologyKey: string;
  /** 1 to 100 of a preference; 1 of a demand. */
  readonly weight: number;
  /** Whether the term speaks of this pod. */
  means(pod: Pod, namespaceLabels: (namespace: string) => Labels | undefined): boolean;
}

/** The terms of one kind; those that select by labels of the pod itself (`matchLabelKeys`) were completed by the API server. */
export function requiredTerms(owner: Pod, terms: readonly Term[] = []): readonly AffinityTerm[] {
  return terms.map((term) => compileTerm(owner, term, 1));
}

export function preferredTerms(owner: Pod, terms: readonly Preferred[] = []): readonly AffinityTerm[] {
  return terms.map(({ podAffinityTerm, weight }) => compileTerm(owner, podAffinityTerm, weight));
}

function compileTerm(owner: Pod, term: Term, weight: number): AffinityTerm {
  const { labelSelector, namespaceSelector, topologyKey } = term;
  const isOwnOnly = (term.namespaces ?? []).length === 0 && namespaceSelector === undefined;
  const namespaces = isOwnOnly ? [owner.metadata.namespace ?? ''] : (term.namespaces ?? []);
  const selector = labelSelector === undefined ? undefined : labelSelectorOf(labelSelector);
  const ofNamespaces = namespaceSelector === undefined ? undefined : labelSelectorOf(namespaceSelector);
  return {
    key: JSON.stringify([namespaces, ofNamespaces, selector, topologyKey, weight]),
    topologyKey,
    weight,
    means(pod, namespaceLabels) {
      if (selector === undefined || !matchesLabels(selector, pod.metadata.labels)) return false;
      const namespace = pod.metadata.namespace ?? '';
      return namespaces.includes(namespace) || isSelected(ofNamespaces, namespace, namespaceLabels);
    },
  };
}

/** An empty selector is of all namespaces, known or not. */
function isSelected(
  selector: LabelSelector | undefined,
  namespace: string,
  namespaceLabels: (namespace: string) => Labels | undefined,
): boolean {
  if (selector === undefined) return false;
  return selector.length === 0 || matchesLabels(selector, namespaceLabels(namespace));
}
