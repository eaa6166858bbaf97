import {
  type EndpointSlice,
  type Endpoints,
  endpointSlices,
  endpoints,
  isStatusError,
  keyOf,
  type ObjectKey,
  pods,
  type Service,
  services,
} from '@castellan/machinery';
import { type Controller, type ReconcileContext, type ReconcileResult, watchSource } from '@castellan/runtime';
import { isNamespaceTerminating } from '../namespace-terminating.js';
import { managedByLabel, planSlices, serviceNameLabel, sliceManager } from './endpoint-slices.js';
import { endpointsManagedByLabel, endpointsManager, planEndpoints } from './endpoints-object.js';
import { isSelected, selectorOf } from './service-pods.js';
import { ServiceSelectors } from './service-selectors.js';

/** Keeps the EndpointSlices and the Endpoints of every service that has a selector. */
export function endpointsController(): Controller<Service> {
  const selectors = new ServiceSelectors();
  return {
    name: 'endpoints',
    for: services,
    watches: [
      watchSource({ type: pods, map: (pod) => selectors.servicesOf(pod) }),
      watchSource({ type: endpointSlices, map: serviceOfSlice }),
      watchSource({ type: endpoints, map: (object) => [keyOf(object)] }),
    ],
    concurrency: 4,
    async reconcile(key, context) {
      const service = context.cache.get(services, key);
      if (service === undefined) {
        selectors.forget(key);
        await deleteEndpoints(key, context);
        return undefined;
      }
      const selector = selectorOf(service);
      // What a service that is being deleted leaves behind is the garbage collector's; we must not make it anew.
      if (selector === undefined || service.metadata.deletionTimestamp !== undefined) {
        selectors.forget(key);
        return undefined;
      }
      const selected = podsOf(key, context).filter((pod) => isSelected(selector, pod));
      selectors.remember(key, selector, selected);
      const slices = planSlices(service, selected, slicesOf(key, context));
      const object = planEndpoints(service, selected, context.cache.get(endpoints, key));
      return write(slices, object, context);
    },
  };
}

function podsOf(service: ObjectKey, { cache }: ReconcileContext) {
  return cache.list(pods, service.namespace === undefined ? {} : { namespace: service.namespace });
}

function slicesOf(service: ObjectKey, { cache }: ReconcileContext): readonly EndpointSlice[] {
  return cache.list(endpointSlices, {
    ...(service.namespace === undefined ? {} : { namespace: service.namespace }),
    labels: { [serviceNameLabel]: service.name, [managedByLabel]: sliceManager },
  });
}

function serviceOfSlice(slice: EndpointSlice): readonly ObjectKey[] {
  const { namespace = '', labels } = slice.metadata;
  const name = labels?.[serviceNameLabel];
  return name === undefined || labels?.[managedByLabel] !== sliceManager ? [] : [{ namespace, name }];
}

/** Additions before removals: while ports change, clients see the pods twice rather than not at all. */
async function write(
  slices: ReturnType<typeof planSlices>,
  object: Endpoints | undefined,
  { client, signal }: ReconcileContext,
): Promise<ReconcileResult> {
  try {
    for (const slice of slices.create) await client.create(endpointSlices, slice, { signal });
    for (const slice of slices.update) await client.update(endpointSlices, slice, { signal });
    for (const slice of slices.delete) await client.delete(endpointSlices, keyOf(slice), { signal });
    if (object === undefined) return undefined;
    if (object.metadata.resourceVersion === undefined) await client.create(endpoints, object, { signal });
    else await client.update(endpoints, object, { signal });
  } catch (error) {
    // The cache is a little behind our own last write: plan again when it has caught up.
    if (isStatusError(error, 'Conflict', 'AlreadyExists')) return { requeueAfterMs: 20 };
    if (!isNamespaceTerminating(error)) throw error;
  }
  return undefined;
}

/** Endpoints have no owner reference, as upstream: they go with their service here. */
async function deleteEndpoints(service: ObjectKey, { cache, client, signal }: ReconcileContext): Promise<void> {
  const left = cache.get(endpoints, service);
  if (left?.metadata.labels?.[endpointsManagedByLabel] !== endpointsManager) return;
  const { uid } = left.metadata;
  try {
    await client.delete(endpoints, service, { ...(uid === undefined ? {} : { preconditions: { uid } }), signal });
  } catch (error) {
    // Another object of that name by now: not ours to delete.
    if (!isStatusError(error, 'Conflict')) throw error;
  }
}
