import { record } from '../json.js';
import type { Strategy } from '../registry/strategy.js';
import { validateClaimUpdate } from './claim-update.js';

export const persistentVolumeClaimStrategy: Strategy = {
  withDefaults: (claim) => ({ ...claim, spec: { volumeMode: 'Filesystem', ...record(claim.spec) } }),
  prepareForCreate: (claim) => ({ ...claim, status: { phase: 'Pending' } }),
  validateUpdate: validateClaimUpdate,
};
