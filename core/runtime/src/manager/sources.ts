import { formatKey, type KubernetesObject, keyOf, type ObjectKey, type ResourceType } from '@castellan/machinery';
import type { Controller } from '../controller.js';
import type { Change } from '../informer/informer.js';
import type { InformerSet } from '../informer/informer-set.js';

/** Told of a key to reconcile, and of the change that asks for it in words. */
type Notify = (key: ObjectKey, cause: string) => void;

/** Has `notify` called for each key that a change of something watched concerns. The result takes the handlers away. */
export function watchSources(controller: Controller, informers: InformerSet, notify: Notify): () => void {
  const sources: readonly Source[] = [
    { type: controller.for, map: (object) => [keyOf(object)] },
    ...(controller.owns ?? []).map((type) => ({
      type,
      map: (object: KubernetesObject) => ownerKeys(object, controller.for),
    })),
    ...(controller.watches ?? []),
  ];
  const removers = sources.map((source) => {
    return informers.watch(source.type).addHandler((change) => {
      const cause = `${source.type.plural} ${formatKey(keyOf(change.object))} was ${change.kind}`;
      for (const key of keysOf(source, change)) notify(key, cause);
    });
  });
  return () => {
    for (const remove of removers) remove();
  };
}

/** The types that a controller watches. */
export function watchedTypes(controller: Controller): readonly ResourceType[] {
  return [controller.for, ...(controller.owns ?? []), ...(controller.watches ?? []).map(({ type }) => type)];
}

interface Source {
  readonly type: ResourceType;
  map(object: KubernetesObject): readonly ObjectKey[];
}

/** An update concerns whom the object concerned before as well: an owner may have been taken from it. */
function keysOf(source: Source, change: Change<KubernetesObject>): readonly ObjectKey[] {
  const keys = source.map(change.object);
  return change.kind === 'updated' ? [...source.map(change.previous), ...keys] : keys;
}

function ownerKeys({ metadata }: KubernetesObject, ownerType: ResourceType): readonly ObjectKey[] {
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
