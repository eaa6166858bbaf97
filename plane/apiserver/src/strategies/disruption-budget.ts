import { type FieldError, fieldError, ShownValue } from '@castellan/machinery';
import { record, text } from '../json.js';
import type { Strategy } from '../registry/strategy.js';
import { selectorErrors } from './label-selector.js';
import { podAmountErrors } from './rollout-rules.js';
import { statusRulesOf } from './workload-status.js';

const evictionPolicies = ['AlwaysAllow', 'IfHealthyBudget'];

/** Source: the API reference of policy/v1 and what kube-apiserver answers. */
export const disruptionBudgetStrategy: Strategy = {
  prepareForCreate: (budget) => ({
    ...budget,
    status: { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 },
  }),
  validate: (budget) => {
    const spec = record(budget.spec);
    const { minAvailable, maxUnavailable, selector, unhealthyPodEvictionPolicy: policy } = spec;
    const isBoth = minAvailable !== undefined && maxUnavailable !== undefined;
    return [
      ...(isBoth ? [bothSet(spec)] : []),
      ...podAmountErrors(minAvailable, 'spec.minAvailable', true),
      ...podAmountErrors(maxUnavailable, 'spec.maxUnavailable', true),
      ...(selector === undefined ? [] : selectorErrors(selector, 'spec.selector')),
      ...(policy === undefined || evictionPolicies.includes(text(policy) ?? '')
        ? []
        : [fieldError.notSupported('spec.unhealthyPodEvictionPolicy', policy, evictionPolicies)]),
    ];
  },
  validateStatus: statusRulesOf('PodDisruptionBudget'),
};

/** Shown as Go prints the structure. */
function bothSet(spec: ReturnType<typeof record>): FieldError {
  const shown = new ShownValue({
    MinAvailable: spec.minAvailable,
    Selector: spec.selector ?? null,
    MaxUnavailable: spec.maxUnavailable,
    UnhealthyPodEvictionPolicy: spec.unhealthyPodEvictionPolicy ?? null,
  });
  return fieldError.invalid('spec', shown, 'minAvailable and maxUnavailable cannot be both set');
}
