import type { Client } from '@castellan/client';
import {
  deepFreeze,
  formatKey,
  type KubernetesObject,
  keyOf,
  type ResourceType,
  resourceName,
} from '@castellan/machinery';
import type { Controller, Reader } from '@castellan/runtime';

/** Everything that a controller watches, as it is now: the cache that a manager would give it, at one moment. */
export async function readSnapshot(client: Client, controller: Controller): Promise<Reader> {
  const types = [controller.for, ...(controller.owns ?? []), ...(controller.watches ?? []).map(({ type }) => type)];
  const byType = new Map<string, readonly KubernetesObject[]>();
  for (const type of types) {
    const { items } = await client.list(type);
    byType.set(
      resourceName(type),
      items.map((item) => deepFreeze(item)),
    );
  }
  const all = <T extends KubernetesObject>(type: ResourceType<T>): readonly T[] => {
    const objects = byType.get(resourceName(type));
    if (objects === undefined) {
      throw new Error(
        `${controller.name} reads ${resourceName(type)} from the cache and does not watch it: add it to watches`,
      );
    }
    // What was listed under the name of a type is of that type.
    return objects as readonly T[];
  };
  return {
    get: (type, key) => all(type).find((object) => formatKey(keyOf(object)) === formatKey(key)),
    list: (type, { namespace, labels = {} } = {}) =>
      all(type).filter(({ metadata }) => {
        const hasLabels = Object.entries(labels).every(([name, value]) => metadata.labels?.[name] === value);
        return hasLabels && (namespace ?? metadata.namespace) === metadata.namespace;
      }),
    ownedBy: (type, ownerUid) =>
      all(type).filter(({ metadata }) =>
        metadata.ownerReferences?.some(({ controller, uid }) => controller === true && uid === ownerUid),
      ),
    byIndex: (index, key) => all(index.type).filter((object) => index.keys(object).includes(key)),
  };
}
