import type { KubernetesObject, ObjectKey, ResourceType } from '@castellan/machinery';
import type { WatchSource } from '../controller.js';

/** As a type in `owns`, for one whose changes do not all count, or count less than others. */
export function ownerSource<T extends KubernetesObject>(
  type: ResourceType<T>,
  options: Pick<WatchSource<T>, 'when' | 'priority'> = {},
): WatchSource {
  const source: WatchSource<T> = { ...options, type, map: controllerKeys };
  return source as unknown as WatchSource;
}

/** The key of the `ownerType` object that ownerReferences name as the controller of this one. */
export function controllerKeys({ metadata }: KubernetesObject, ownerType: ResourceType): readonly ObjectKey[] {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  if (owner === undefined || owner.kind !== ownerType.kind) return [];
  const slash = owner.apiVersion.indexOf('/');
  const group = slash < 0 ? '' : owner.apiVersion.slice(0, slash);
  if (group !== ownerType.group) return [];
  return [
    ownerType.isNamespaced && metadata.namespace !== undefined
      ? { namespace: metadata.namespace, name: owner.name }
      : { name: owner.name },
  ];
}
