import { dns1035LabelErrors, type FieldError, fieldError } from '@castellan/machinery';
import { type ApiObject, list, record, text } from '../json.js';

const approval = 'api-approved.kubernetes.io';

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

/** Groups of Kubernetes' own community: a definition in one says who has approved it. */
export function approvalErrors(crd: ApiObject): readonly FieldError[] {
  const field = `metadata.annotations[${approval}]`;
  return approvalCondition(crd).flatMap(({ reason, message }) => {
    if (reason === 'MissingAnnotation') return [fieldError.required(field, message)];
    if (reason !== 'InvalidAnnotation') return [];
    return [fieldError.invalid(field, record(crd.metadata.annotations)[approval], message)];
  });
}

interface Approval {
  readonly status: 'True' | 'False';
  readonly reason: 'MissingAnnotation' | 'InvalidAnnotation' | 'UnapprovedAnnotation' | 'ApprovedAnnotation';
  readonly message: string;
}

/** What is to be said of the approval of a definition; nothing of one outside the protected groups. */
export function approvalCondition(crd: ApiObject): readonly Approval[] {
  const group = text(record(crd.spec).group) ?? '';
  if (!/(?:^|\.)(?:k8s|kubernetes)\.io$/.test(group)) return [];
  const value = text(record(crd.metadata.annotations)[approval]) ?? '';
  const wanted = `protected groups must have approval annotation "${approval}"`;
  const reference = 'see https://github.com/kubernetes/enhancements/pull/1111';
  if (value === '') return [{ status: 'False', reason: 'MissingAnnotation', message: `${wanted}, ${reference}` }];
  if (value.startsWith('unapproved')) {
    return [{ status: 'False', reason: 'UnapprovedAnnotation', message: `not approved: ${JSON.stringify(value)}` }];
  }
  if (URL.canParse(value) && new URL(value).host !== '') {
    return [{ status: 'True', reason: 'ApprovedAnnotation', message: `approved in ${value}` }];
  }
  const message = `${wanted} with either a URL or a reason starting with "unapproved", ${reference}`;
  return [{ status: 'False', reason: 'InvalidAnnotation', message }];
}
