import { deepEqual, type FieldError, fieldError } from '@castellan/machinery';
import { at, type JsonRecord, list, record, records, without } from '../json.js';

const required = 'requiredDuringSchedulingIgnoredDuringExecution';

/** A pod that waits behind a gate may still be told more closely where to run; never less. Source: KEP-3838. */
export function gatedErrors(spec: JsonRecord, before: JsonRecord): readonly FieldError[] {
  const affinityPath = 'spec.affinity.nodeAffinity';
  return [
    ...selectorErrors(record(spec.nodeSelector), record(before.nodeSelector)),
    ...affinityErrors(at(spec, 'affinity', 'nodeAffinity'), at(before, 'affinity', 'nodeAffinity'), affinityPath),
  ];
}

/** The spec with what a gate leaves open as it was before. */
export function withGatedFieldsOf(before: JsonRecord, spec: JsonRecord): JsonRecord {
  const affinity = without(record(spec.affinity), 'nodeAffinity');
  const ofNodes = at(before, 'affinity', 'nodeAffinity');
  const restored = ofNodes === undefined ? affinity : { ...affinity, nodeAffinity: ofNodes };
  const hasAffinity = Object.keys(restored).length > 0 || before.affinity !== undefined;
  return {
    ...without(spec, 'nodeSelector', 'affinity'),
    ...(before.nodeSelector === undefined ? {} : { nodeSelector: before.nodeSelector }),
    ...(hasAffinity ? { affinity: restored } : {}),
  };
}

function selectorErrors(next: JsonRecord, before: JsonRecord): readonly FieldError[] {
  return Object.entries(before)
    .filter(([key, value]) => next[key] !== value)
    .map(() =>
      fieldError.invalid(
        'spec.nodeSelector',
        next,
        'only additions to spec.nodeSelector are allowed (no mutations or deletions)',
      ),
    )
    .slice(0, 1);
}

function affinityErrors(next: unknown, before: unknown, path: string): readonly FieldError[] {
  const own = `${path}.${required}`;
  const old = at(before, required);
  if (old === undefined || deepEqual(next, before)) return [];
  const terms = records(at(next, required, 'nodeSelectorTerms'));
  const oldTerms = records(at(old, 'nodeSelectorTerms'));
  const place = `${own}.nodeSelectorTerms`;
  if (terms.length !== oldTerms.length) {
    return [fieldError.invalid(place, terms, 'no additions/deletions to non-empty NodeSelectorTerms list are allowed')];
  }
  return terms.flatMap((term, index) => {
    const was = oldTerms[index] ?? {};
    const isEmpty = Object.keys(was).length === 0;
    const keeps = ['matchExpressions', 'matchFields'].every((field) =>
      list(was[field]).every((requirement, position) => deepEqual(requirement, list(term[field])[position])),
    );
    const problem = 'only additions are allowed (no mutations or deletions)';
    return keeps && (!isEmpty || deepEqual(term, was)) ? [] : [fieldError.invalid(`${place}[${index}]`, term, problem)];
  });
}
