import { list, record, records, text } from '../json.js';

/**
 * A metav1.LabelSelector, or the plain labels that older kinds select by, as kubectl writes it, in the
 * order of its keys: `app=a,tier in (x,y)`.
 */
export function selectorText(selector: unknown): string {
  if (selector === undefined) return '<none>';
  const { matchLabels, matchExpressions } = record(selector);
  const isPlain = matchLabels === undefined && matchExpressions === undefined;
  const parts = [
    ...Object.entries(record(isPlain ? selector : matchLabels)).map(([key, value]) => [key, `${key}=${String(value)}`]),
    ...records(matchExpressions).map((expression) => [text(expression.key) ?? '', expressionText(expression)]),
  ].sort(([left = ''], [right = '']) => (left < right ? -1 : left > right ? 1 : 0));
  return parts.length === 0 ? '<none>' : parts.map(([, shown]) => shown).join(',');
}

function expressionText({ key, operator, values }: Readonly<Record<string, unknown>>): string {
  const name = text(key) ?? '';
  const listed = `(${list(values).map(String).sort().join(',')})`;
  switch (operator) {
    case 'In':
      return `${name} in ${listed}`;
    case 'NotIn':
      return `${name} notin ${listed}`;
    case 'DoesNotExist':
      return `!${name}`;
    default:
      return name;
  }
}
