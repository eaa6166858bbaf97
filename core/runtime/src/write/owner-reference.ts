import { apiVersionOf, type KubernetesObject, type OwnerReference, type ResourceType } from '@castellan/machinery';

/** The reference that makes `object` the controller of another: that one goes when `object` goes, and changes of it count as changes of `object`. */
export function ownerReferenceFor(object: KubernetesObject, type: ResourceType): OwnerReference {
  const { name, uid } = object.metadata;
  if (name === undefined || uid === undefined) {
    throw new Error(`a ${type.kind} that the server has not stored cannot own another object: it has no uid`);
  }
  return { apiVersion: apiVersionOf(type), kind: type.kind, name, uid, controller: true, blockOwnerDeletion: true };
}
