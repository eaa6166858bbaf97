import { record } from '../json.js';
import type { Strategy } from '../registry/strategy.js';
import { validateClaimUpdate } from './claim-update.js';
import { claimErrors } from './claim-validation.js';

export const persistentVolumeClaimStrategy: Strategy = {
  withDefaults: (claim) => ({ ...claim, spec: { volumeMode: 'Filesystem', ...record(claim.spec) } }),
  prepareForCreate: (claim) => ({ ...claim, status: { phase: 'Pending' } }),
  // What is there already was judged when it was made.
  validate: (claim, current) => (current === undefined ? claimErrors(claim) : []),
  validateUpdate: validateClaimUpdate,
};
