import { type FieldError, fieldError } from '@castellan/machinery';
import type { ApiObject } from '../json.js';
import type { Strategy } from '../registry/strategy.js';

const maxUserPriority = 1_000_000_000;
const systemPrefix = 'system-';
const systemClasses: Readonly<Record<string, number>> = {
  'system-cluster-critical': 2_000_000_000,
  'system-node-critical': 2_000_001_000,
};
const preemptionPolicies = ['PreemptLowerPriority', 'Never'];

export const priorityClassStrategy: Strategy = {
  withDefaults: (priority) => ({ preemptionPolicy: 'PreemptLowerPriority', value: 0, ...priority }),
  validate: (priority) => [...priorityErrors(priority)],
  validateUpdate: (priority, current) => [
    ...(priority.value === current.value ? [] : [fieldError.forbidden('value', 'may not be changed in an update.')]),
    ...(priority.preemptionPolicy === current.preemptionPolicy
      ? []
      : [fieldError.invalid('preemptionPolicy', priority.preemptionPolicy, 'field is immutable')]),
  ],
};

function priorityErrors(priority: ApiObject): readonly FieldError[] {
  const { name = '' } = priority.metadata;
  const value = Number(priority.value);
  const isSystem = name.startsWith(systemPrefix);
  const isKnown = Object.hasOwn(systemClasses, name) && systemClasses[name] === value;
  const reserved = `priority class names with '${systemPrefix}' prefix are reserved for system use only. error: ${name} is not a known system priority class`;
  return [
    ...(isSystem && !isKnown ? [fieldError.forbidden('metadata.name', reserved)] : []),
    ...(!isSystem && value > maxUserPriority
      ? [fieldError.forbidden('value', `maximum allowed value of a user defined priority is ${maxUserPriority}`)]
      : []),
    ...(preemptionPolicies.includes(String(priority.preemptionPolicy))
      ? []
      : [fieldError.notSupported('preemptionPolicy', priority.preemptionPolicy, preemptionPolicies)]),
  ];
}
