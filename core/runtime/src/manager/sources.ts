import { formatKey, type KubernetesObject, keyOf, type ObjectKey, type ResourceType } from '@castellan/machinery';
import type { Controller } from '../controller.js';
import type { Change, Informer } from '../informer/informer.js';
import type { InformerSet } from '../informer/informer-set.js';

/** Told of a key to reconcile, and of the change that asks for it in words. */
type Notify = (key: string, cause: string) => void;

/** Has `notify` called once for each key that a change of something watched concerns. The result takes the handlers away. */
export function watchSources(controller: Controller, informers: InformerSet, notify: Notify): () => void {
  const sources: readonly Source[] = [
    { type: controller.for, map: (object) => [keyOf(object)] },
    ...(controller.owns ?? []).map((type) => ({
      type,
      map: (object: KubernetesObject) => ownerKeys(object, controller.for),
    })),
    ...(controller.watches ?? []),
  ];
  const byInformer = new Map<Informer<KubernetesObject>, Source[]>();
  for (const source of sources) {
    const informer = informers.watch(source.type);
    byInformer.set(informer, [...(byInformer.get(informer) ?? []), source]);
  }
  const removers = [...byInformer].map(([informer, sourcesOfType]) =>
    informer.addHandler((change) => {
      const cause = `${informer.type.plural} ${formatKey(keyOf(change.object))} was ${change.kind}`;
      for (const key of keysOf(sourcesOfType, change)) notify(key, cause);
    }),
  );
  return () => {
    for (const remove of removers) remove();
  };
}

interface Source {
  readonly type: ResourceType;
  map(object: KubernetesObject): readonly ObjectKey[];
}

/** An update concerns whom the object concerned before as well: an owner may have been taken from it. */
function keysOf(sources: readonly Source[], change: Change<KubernetesObject>): ReadonlySet<string> {
  const keys = new Set<string>();
  for (const source of sources) {
    if (change.kind === 'updated') for (const key of source.map(change.previous)) keys.add(formatKey(key));
    for (const key of source.map(change.object)) keys.add(formatKey(key));
  }
  return keys;
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
