export {
  checkMachine,
  enterRootless,
  type MachineFinding,
  openRootlessPort,
  removeEverything as tearDown,
  removeUserNamespace,
} from '@castellan/node';
export { type Phase, type Plane, type PlaneOptions, startPlane } from './plane.js';
export { StorageMismatchError } from './remembered-storage.js';
export type { Storage } from './storage.js';
