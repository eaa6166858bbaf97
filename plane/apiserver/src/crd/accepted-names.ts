import { type ApiObject, type JsonRecord, list, record, text } from '../json.js';

export interface NameDecision {
  /** What the definition is served by. A name that another definition has is not among them. */
  readonly acceptedNames: JsonRecord;
  readonly areAllAccepted: boolean;
  readonly reason: string;
  readonly message: string;
}

/**
 * Which of its names a definition gets. Within a group a name of a resource belongs to the first definition that has it,
 * and so does a kind; what a definition has been given before it keeps.
 */
export function decideNames(crd: ApiObject, others: readonly ApiObject[]): NameDecision {
  const { spec, status } = crd;
  const wanted = record(record(spec).names);
  const given = record(record(status).acceptedNames);
  const taken = others.map((other) => record(record(other.status).acceptedNames));
  const resources = new Set(taken.flatMap((names) => [names.plural, names.singular, ...list(names.shortNames)]));
  const kinds = new Set(taken.flatMap((names) => [names.kind, names.listKind]));
  const accepted: Record<string, unknown> = { plural: '', kind: '', ...given };
  let [reason, message] = ['NoConflicts', 'no conflicts found'];
  const claim = (field: string, words: string, inUse: ReadonlySet<unknown>) => {
    const names = [wanted[field] ?? []].flat();
    const clash = names.find((name) => name !== '' && inUse.has(name));
    if (clash === undefined) {
      if (wanted[field] === undefined) delete accepted[field];
      else accepted[field] = wanted[field];
      return;
    }
    reason = `${words}Conflict`;
    message = `${JSON.stringify(text(clash) ?? '')} is already in use`;
  };
  claim('plural', 'Plural', resources);
  claim('singular', 'Singular', resources);
  claim('shortNames', 'ShortNames', resources);
  claim('kind', 'Kind', kinds);
  claim('listKind', 'ListKind', kinds);
  if (wanted.categories === undefined) delete accepted.categories;
  else accepted.categories = wanted.categories;
  return { acceptedNames: accepted, areAllAccepted: reason === 'NoConflicts', reason, message };
}
