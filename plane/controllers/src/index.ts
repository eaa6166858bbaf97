export type { Component, ComponentContext } from './component.js';
export { type PlaneControllers, type PlaneControllersOptions, planeControllers } from './plane-controllers.js';
