// Walk 8/10: the operator's pod has no node yet; this write gives it one, and the node agent (plane/node) starts it there.
import type { Client } from '@castellan/client';
import { isStatusError, type KubernetesObject, type Pod, type ResourceType } from '@castellan/machinery';

interface Binding extends KubernetesObject {
  readonly target: { readonly apiVersion: string; readonly kind: string; readonly name: string };
}

/** A binding is written as a subresource of the pod. */
const podBindings: ResourceType<Binding> = {
  group: '',
  version: 'v1',
  kind: 'Pod',
  plural: 'pods',
  isNamespaced: true,
};

/**
 * Puts a pod on a node: the API server sets `spec.nodeName`, once and for good, and the node agent takes it from there.
 * `taken`: it has a node already, perhaps by an earlier try whose reply was lost, or is being deleted. `gone`: there is no such pod.
 */
export async function bind(
  pod: Pod,
  nodeName: string,
  client: Client,
  signal: AbortSignal,
): Promise<'bound' | 'taken' | 'gone'> {
  const { namespace = '', name = '', uid } = pod.metadata;
  const binding: Binding = {
    apiVersion: 'v1',
    kind: 'Binding',
    metadata: { namespace, name, ...(uid === undefined ? {} : { uid }) },
    target: { apiVersion: 'v1', kind: 'Node', name: nodeName },
  };
  try {
    await client.create(podBindings, binding, { subresource: 'binding', signal });
    return 'bound';
  } catch (error) {
    if (isStatusError(error, 'Conflict')) return 'taken';
    if (isStatusError(error, 'NotFound')) return 'gone';
    throw error;
  }
}
