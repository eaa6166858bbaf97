import type { Controller } from '@castellan/runtime';
import { localProvisionerController } from './local-provisioner.js';
import { localReclaimController } from './local-reclaim.js';
import { localResizerController } from './local-resizer.js';
import type { LocalStorageOptions } from './volume-store.js';

/** Makes, grows and deletes the volumes of a machine for the provisioner `castellan.dev/local`. */
export function localStorageControllers(options: LocalStorageOptions): readonly Controller[] {
  return [localProvisionerController(options), localReclaimController(options), localResizerController(options)];
}
