import type { Pod } from '@castellan/machinery';
import type { AffinityTerm, TermKind } from './affinity-term.js';
import type { PlacedTerm } from './cluster-state.js';
import { factsOf } from './pod-facts.js';

interface Entry {
  readonly term: AffinityTerm;
  readonly counts: Map<string, number>;
}

const kinds: readonly TermKind[] = ['requiredAway', 'requiredNear', 'preferredAway', 'preferredNear'];

/** The terms of affinity that placed pods have, each once with the nodes that its pods are on: templates have few, pods are many. */
export class PlacedTerms {
  readonly #byKind: Record<TermKind, Map<string, Entry>> = {
    requiredAway: new Map(),
    requiredNear: new Map(),
    preferredAway: new Map(),
    preferredNear: new Map(),
  };

  of(kind: TermKind): Iterable<PlacedTerm> {
    return this.#byKind[kind].values();
  }

  podAdded(pod: Pod, nodeName: string): void {
    this.#change(pod, nodeName, 1);
  }

  podRemoved(pod: Pod, nodeName: string): void {
    this.#change(pod, nodeName, -1);
  }

  #change(pod: Pod, nodeName: string, by: 1 | -1): void {
    const { terms } = factsOf(pod);
    for (const kind of kinds) for (const term of terms[kind]) this.#changeTerm(kind, term, nodeName, by);
  }

  #changeTerm(kind: TermKind, term: AffinityTerm, nodeName: string, by: 1 | -1): void {
    const entries = this.#byKind[kind];
    const entry = entries.get(term.key) ?? { term, counts: new Map<string, number>() };
    entries.set(term.key, entry);
    const count = (entry.counts.get(nodeName) ?? 0) + by;
    if (count > 0) entry.counts.set(nodeName, count);
    else entry.counts.delete(nodeName);
    if (entry.counts.size === 0) entries.delete(term.key);
  }
}
