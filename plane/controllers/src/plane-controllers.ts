import type { Controller } from '@castellan/runtime';
import type { Component, ComponentContext } from './component.js';
import { endpointsController } from './endpoints/endpoints-controller.js';
import { garbageCollector } from './garbage-collector/garbage-collector.js';
import { type NamespaceDefaultsOptions, namespaceDefaultsController } from './namespaces/namespace-defaults.js';
import { namespaceDeletionController } from './namespaces/namespace-deletion.js';

export interface PlaneControllersOptions extends ComponentContext, NamespaceDefaultsOptions {}

export interface PlaneControllers {
  /** For a manager. */
  readonly controllers: readonly Controller[];
  /** To be run beside it. */
  readonly components: readonly Component[];
}

/** What kube-controller-manager does for a plane, as far as it is built. Everything goes over the HTTP API. */
export function planeControllers(options: PlaneControllersOptions): PlaneControllers {
  return {
    controllers: [namespaceDefaultsController(options), namespaceDeletionController(), endpointsController()],
    components: [garbageCollector(options)],
  };
}
