export { removeEverything as tearDown } from '@castellan/node';
export { type Phase, type Plane, type PlaneOptions, startPlane } from './plane.js';
