/** One demand on labels. `values` is empty for `exists` and `!`. */
export interface LabelRequirement {
  readonly key: string;
  readonly operator: 'in' | 'notin' | 'exists' | '!' | 'gt' | 'lt';
  readonly values: readonly string[];
}

/** All of these demands; none of them: every object. See `parseLabelSelector` and `labelSelectorOf`. */
export type LabelSelector = readonly LabelRequirement[];

export function matchesLabels(selector: LabelSelector, labels: Readonly<Record<string, string>> | undefined): boolean {
  return selector.every((requirement) => {
    const has = labels !== undefined && Object.hasOwn(labels, requirement.key);
    const value = has ? labels[requirement.key] : undefined;
    return value === undefined
      ? requirement.operator === '!' || requirement.operator === 'notin'
      : holds(requirement, value);
  });
}

function holds({ operator, values }: LabelRequirement, value: string): boolean {
  switch (operator) {
    case 'exists':
      return true;
    case '!':
      return false;
    case 'in':
      return values.includes(value);
    case 'notin':
      return !values.includes(value);
    case 'gt':
    case 'lt':
      return compares(operator, value, values[0] ?? '');
  }
}

const integer = /^[+-]?\d+$/;

function compares(operator: 'gt' | 'lt', value: string, bound: string): boolean {
  if (!integer.test(value) || !integer.test(bound)) return false;
  return operator === 'gt' ? BigInt(value) > BigInt(bound) : BigInt(value) < BigInt(bound);
}

/** The selector as text that `parseLabelSelector` reads, sorted by key. */
export function formatLabelSelector(selector: LabelSelector): string {
  return [...selector]
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    .map(formatRequirement)
    .join(',');
}

function formatRequirement({ key, operator, values }: LabelRequirement): string {
  switch (operator) {
    case 'exists':
      return key;
    case '!':
      return `!${key}`;
    case 'gt':
      return `${key}>${values[0] ?? ''}`;
    case 'lt':
      return `${key}<${values[0] ?? ''}`;
    default:
      if (values.length === 1) return `${key}${operator === 'in' ? '=' : '!='}${values[0]}`;
      return `${key} ${operator} (${[...values].sort().join(',')})`;
  }
}

/** A selector as it stands in a spec: `metav1.LabelSelector`. */
export interface LabelSelectorObject {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values?: readonly string[];
  }[];
}

const objectOperators: ReadonlyMap<string, LabelRequirement['operator']> = new Map([
  ['In', 'in'],
  ['NotIn', 'notin'],
  ['Exists', 'exists'],
  ['DoesNotExist', '!'],
]);

/**
 * The demands of a selector of a spec. An empty selector is one of every object; that an absent one is often of none
 * is for the caller to mind.
 *
 * @throws Error when an operator is none, or has values where it takes none.
 */
export function labelSelectorOf(object: LabelSelectorObject): LabelSelector {
  const fromLabels = Object.entries(object.matchLabels ?? {}).map(
    ([key, value]): LabelRequirement => ({ key, operator: 'in', values: [value] }),
  );
  const fromExpressions = (object.matchExpressions ?? []).map((expression): LabelRequirement => {
    const { key, values = [] } = expression;
    const operator = objectOperators.get(expression.operator);
    if (operator === undefined) throw new Error(`"${expression.operator}" is not a valid label selector operator`);
    const takesValues = operator === 'in' || operator === 'notin';
    if (takesValues && values.length === 0) throw new Error(`for 'in', 'notin' operators, values set can't be empty`);
    if (!takesValues && values.length > 0) throw new Error('values set must be empty for exists and does not exist');
    return { key, operator, values };
  });
  return [...fromLabels, ...fromExpressions];
}
