import { dns1035LabelErrors, type FieldError, fieldError } from '@castellan/machinery';
import { type ApiObject, list, record, text } from '../json.js';

/** What is wrong with the names of a definition: they become parts of paths. */
export function nameErrors(names: Readonly<Record<string, unknown>>): readonly FieldError[] {
  const one = (field: string, value: unknown, shown = value) => {
    const name = text(value) ?? '';
    if (name === '') return [];
    return dns1035LabelErrors(name).map((problem) => fieldError.invalid(`spec.names.${field}`, shown, problem));
  };
  const lower = (value: unknown) => text(value)?.toLowerCase();
  const each = (field: string) => list(names[field]).flatMap((name, index) => one(`${field}[${index}]`, name));
  return [
    ...one('plural', names.plural),
    ...one('singular', names.singular),
    ...one('kind', lower(names.kind), names.kind),
    ...one('listKind', lower(names.listKind), names.listKind),
    ...each('shortNames'),
    ...each('categories'),
  ];
}

const approval = 'api-approved.kubernetes.io';

/** Groups of Kubernetes' own community: a definition in one says who has approved it. */
export function approvalErrors(crd: ApiObject): readonly FieldError[] {
  const group = text(record(crd.spec).group) ?? '';
  if (!/(?:^|\.)(?:k8s|kubernetes)\.io$/.test(group)) return [];
  const field = `metadata.annotations[${approval}]`;
  const value = record(crd.metadata.annotations)[approval];
  if (value === undefined || value === '') {
    const detail = `protected groups must have approval annotation "${approval}", see https://github.com/kubernetes/enhancements/pull/1111`;
    return [fieldError.required(field, detail)];
  }
  const isUnapproved = String(value).startsWith('unapproved');
  if (isUnapproved || URL.canParse(String(value))) return [];
  const detail = `protected groups must have approval annotation "${approval}" with either a URL or a reason starting with "unapproved", see https://github.com/kubernetes/enhancements/pull/1111`;
  return [fieldError.invalid(field, value, detail)];
}
