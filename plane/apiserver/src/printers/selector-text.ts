import { list, record, records, text } from '../json.js';

/** A metav1.LabelSelector, or the plain labels that older kinds select by, as kubectl writes it: `app=a,tier in (x,y)`. */
export function selectorText(selector: unknown): string {
  if (selector === undefined) return '<none>';
  const { matchLabels, matchExpressions } = record(selector);
  const isPlain = matchLabels === undefined && matchExpressions === undefined;
  const equal = Object.entries(record(isPlain ? selector : matchLabels))
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([key, value]) => `${key}=${String(value)}`);
  const parts = [...equal, ...records(matchExpressions).map(expressionText)];
  return parts.length === 0 ? '<none>' : parts.join(',');
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
