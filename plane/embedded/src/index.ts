export {
  checkMachine,
  enterRootless,
  type MachineFinding,
  openRootlessPort,
  removeEverything as tearDown,
  removeUserNamespace,
} from '@castellan/node';
export { type Plane, startPlane } from './plane.js';
export type { Phase, PlaneOptions } from './plane-options.js';
export { StorageMismatchError } from './remembered-storage.js';
export type { Storage } from './storage.js';
