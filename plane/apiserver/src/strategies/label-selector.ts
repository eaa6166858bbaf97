import { type FieldError, fieldError, labelErrors, labelValueErrors, qualifiedNameErrors } from '@castellan/machinery';
import { type JsonRecord, list, record, records, text } from '../json.js';

/** The rules of a metav1.LabelSelector. */
export function selectorErrors(selector: unknown, path: string): readonly FieldError[] {
  const { matchLabels, matchExpressions } = record(selector);
  return [
    ...labelErrors(record(matchLabels), `${path}.matchLabels`),
    ...records(matchExpressions).flatMap((expression, index) =>
      expressionErrors(expression, `${path}.matchExpressions[${index}]`),
    ),
  ];
}

function expressionErrors(expression: JsonRecord, path: string): readonly FieldError[] {
  const key = text(expression.key) ?? '';
  return [
    ...operatorErrors(expression, path),
    ...qualifiedNameErrors(key).map((problem) => fieldError.invalid(`${path}.key`, key, problem)),
    ...list(expression.values).flatMap((value, index) =>
      labelValueErrors(text(value) ?? '').map((problem) =>
        fieldError.invalid(`${path}.values[${index}]`, value, problem),
      ),
    ),
  ];
}

function operatorErrors({ operator, values }: JsonRecord, path: string): readonly FieldError[] {
  const hasValues = list(values).length > 0;
  switch (operator) {
    case 'In':
    case 'NotIn':
      return hasValues
        ? []
        : [fieldError.required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'")];
    case 'Exists':
    case 'DoesNotExist':
      return hasValues
        ? [fieldError.forbidden(`${path}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")]
        : [];
    default:
      return [fieldError.invalid(`${path}.operator`, text(operator) ?? '', 'not a valid selector operator')];
  }
}

/** Whether a selector can be read at all. */
export function isReadable(selector: unknown): boolean {
  return selectorErrors(selector, '').length === 0;
}

export function isEmptySelector(selector: unknown): boolean {
  const { matchLabels, matchExpressions } = record(selector);
  return Object.keys(record(matchLabels)).length === 0 && list(matchExpressions).length === 0;
}

/** Whether labels are selected; no selector and an unreadable one select nothing. */
export function selects(selector: unknown, labels: JsonRecord): boolean {
  if (selector === undefined || !isReadable(selector)) return false;
  const { matchLabels, matchExpressions } = record(selector);
  return (
    Object.entries(record(matchLabels)).every(([key, value]) => labels[key] === value) &&
    records(matchExpressions).every((expression) => satisfies(expression, labels))
  );
}

function satisfies({ key, operator, values }: JsonRecord, labels: JsonRecord): boolean {
  const name = text(key) ?? '';
  const isThere = Object.hasOwn(labels, name);
  switch (operator) {
    case 'In':
      return isThere && list(values).includes(labels[name]);
    case 'NotIn':
      return !isThere || !list(values).includes(labels[name]);
    case 'Exists':
      return isThere;
    default:
      return !isThere;
  }
}
