import { fieldAt, itemsAt } from './field.js';
import { podAmounts } from './pod-amounts.js';
import type { CountedType } from './quota-usage.js';

interface ScopeRule {
  readonly scope: unknown;
  readonly operator: unknown;
  readonly values: readonly unknown[];
}

/**
 * Whether an object is one of those that a quota is about: all that it has no scopes for, and of pods and claims those that are
 * in all of its scopes. Source: Kubernetes, "Resource Quotas".
 */
export function isInQuotaScope(quota: unknown, { group, plural }: CountedType, object: unknown): boolean {
  const rules: readonly ScopeRule[] = [
    ...itemsAt(quota, 'spec', 'scopes').map((scope) => ({ scope, operator: 'Exists', values: [] })),
    ...itemsAt(quota, 'spec', 'scopeSelector', 'matchExpressions').map((expression) => ({
      scope: fieldAt(expression, 'scopeName'),
      operator: fieldAt(expression, 'operator'),
      values: itemsAt(expression, 'values'),
    })),
  ];
  if (group !== '') return rules.length === 0;
  return rules.every((rule) => isPodInScope(rule, plural, object));
}

function isPodInScope(rule: ScopeRule, plural: string, object: unknown): boolean {
  if (rule.scope === 'VolumeAttributesClass') {
    return plural === 'persistentvolumeclaims' && holds(rule, fieldAt(object, 'spec', 'volumeAttributesClassName'));
  }
  if (plural !== 'pods') return false;
  switch (rule.scope) {
    case 'BestEffort':
      return isBestEffort(object);
    case 'NotBestEffort':
      return !isBestEffort(object);
    case 'Terminating':
      return fieldAt(object, 'spec', 'activeDeadlineSeconds') !== undefined;
    case 'NotTerminating':
      return fieldAt(object, 'spec', 'activeDeadlineSeconds') === undefined;
    case 'PriorityClass':
      return holds(rule, fieldAt(object, 'spec', 'priorityClassName'));
    case 'CrossNamespacePodAffinity':
      return affinityTerms(object).some(isAcrossNamespaces);
    default:
      return false;
  }
}

function isBestEffort(pod: unknown): boolean {
  return podAmounts(pod, 'requests').size + podAmounts(pod, 'limits').size === 0;
}

function holds({ operator, values }: ScopeRule, value: unknown): boolean {
  const hasValue = value !== undefined && value !== '';
  switch (operator) {
    case 'Exists':
      return hasValue;
    case 'DoesNotExist':
      return !hasValue;
    case 'In':
      return hasValue && values.includes(value);
    case 'NotIn':
      return !hasValue || !values.includes(value);
    default:
      return false;
  }
}

function affinityTerms(pod: unknown): readonly unknown[] {
  return ['podAffinity', 'podAntiAffinity'].flatMap((kind) => {
    const own = ['spec', 'affinity', kind];
    const preferred = itemsAt(pod, ...own, 'preferredDuringSchedulingIgnoredDuringExecution');
    return [
      ...itemsAt(pod, ...own, 'requiredDuringSchedulingIgnoredDuringExecution'),
      ...preferred.map((each) => fieldAt(each, 'podAffinityTerm')),
    ];
  });
}

function isAcrossNamespaces(term: unknown): boolean {
  return itemsAt(term, 'namespaces').length > 0 || fieldAt(term, 'namespaceSelector') !== undefined;
}
