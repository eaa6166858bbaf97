import { StatusError } from '@castellan/machinery';
import { forbidden } from '../errors.js';
import { at } from '../json.js';
import { storageKey } from '../storage/keys.js';
import type { Resource, ResourceDefinition } from './resource.js';

/** Refuses what may not be made in its namespace: it must be there and not on its way out (NamespaceLifecycle). */
export async function admitToNamespace(
  namespaces: Resource,
  definition: ResourceDefinition,
  at_: { readonly namespace: string | undefined; readonly name: string },
): Promise<void> {
  const { namespace, name } = at_;
  if (!definition.isNamespaced || namespace === undefined) return;
  const found = await namespaces.store.storage.getShared(storageKey(namespaces.store.layout, { name: namespace }));
  if (found === undefined) {
    throw StatusError.of('NotFound', `namespaces "${namespace}" not found`, { name: namespace, kind: 'namespaces' });
  }
  if (at(found, 'status', 'phase') !== 'Terminating' && found.metadata.deletionTimestamp === undefined) return;
  const problem = `unable to create new content in namespace ${namespace} because it is being terminated`;
  throw forbidden(definition, name, problem, [
    {
      reason: 'NamespaceTerminating',
      message: `namespace ${namespace} is being terminated`,
      field: 'metadata.namespace',
    },
  ]);
}
