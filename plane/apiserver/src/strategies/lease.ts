import { type FieldError, fieldError } from '@castellan/machinery';
import { at, record } from '../json.js';
import type { Strategy } from '../registry/strategy.js';

export const leaseStrategy: Strategy = {
  withDefaults: (lease) => (lease.spec === undefined ? { ...lease, spec: {} } : lease),
  validate: (lease): readonly FieldError[] => {
    const { leaseDurationSeconds: duration, leaseTransitions: transitions } = record(at(lease, 'spec'));
    return [
      ...(typeof duration === 'number' && duration <= 0
        ? [fieldError.invalid('spec.leaseDurationSeconds', duration, 'must be greater than 0')]
        : []),
      ...(typeof transitions === 'number' && transitions < 0
        ? [fieldError.invalid('spec.leaseTransitions', transitions, 'must be greater than or equal to 0')]
        : []),
    ];
  },
};
