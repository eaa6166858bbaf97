import { type FieldError, fieldError, formatQuantity, parseQuantity } from '@castellan/machinery';
import { type ApiObject, at, list, record } from '../json.js';
import type { Strategy } from '../registry/strategy.js';
import { validateClaimUpdate } from './claim-update.js';
import { claimSpecErrors } from './claim-validation.js';

export const persistentVolumeClaimStrategy: Strategy = {
  withDefaults: (claim) => ({ ...claim, spec: { volumeMode: 'Filesystem', ...record(claim.spec) } }),
  prepareForCreate: (claim) => ({ ...claim, status: { phase: 'Pending' } }),
  validate: ({ spec }) => claimSpecErrors(record(spec), 'spec'),
  validateUpdate: validateClaimUpdate,
  validateStatus: statusErrors,
};

function statusErrors({ spec, status }: ApiObject): readonly FieldError[] {
  const capacity = Object.entries(record(at(status, 'capacity')));
  return [
    // Upstream says it with a capital.
    ...(list(at(spec, 'accessModes')).length === 0 ? [fieldError.required('Spec.accessModes')] : []),
    ...capacity.flatMap(([name, value]) => {
      const amount = parseQuantity(String(value));
      return amount.nano < 0n
        ? [fieldError.invalid(`status.capacity[${name}]`, formatQuantity(amount), 'must be a valid resource quantity')]
        : [];
    }),
  ];
}
