import {
  deepEqual,
  isCountedIn,
  isStatusError,
  type KubernetesObject,
  persistentVolumeClaims,
  pods,
  type ResourceQuota,
  type ResourceType,
  resourceQuotas,
  services,
} from '@castellan/machinery';
import {
  type Change,
  type Controller,
  index,
  type ReconcileContext,
  updateStatus,
  watchSource,
} from '@castellan/runtime';
import { discover } from '../discovery.js';
import { type Counted, usedOf } from './count-usage.js';

/** Kinds that are in the cache: what is given back is seen at once. */
const cachedKinds: readonly ResourceType[] = [pods, services, persistentVolumeClaims];
/** What has no watch here is counted anew after this time; what has one after the longer. */
const recountMs = 15_000;
const resyncMs = 5 * 60_000;
const quotasByNamespace = index(resourceQuotas, 'namespace', ({ metadata }) => [metadata.namespace ?? '']);

/**
 * Keeps `status.used` of ResourceQuotas true. What is made is counted by the API server, as it is made; this gives back what was
 * deleted or has ended, and counts for the first time. Source: Kubernetes, "Resource Quotas".
 */
export function resourceQuotaController(): Controller<ResourceQuota> {
  const inNamespace = new Map<string, Set<string>>();
  const quotasOf = ({ metadata: { namespace = '' } }: KubernetesObject) =>
    [...(inNamespace.get(namespace) ?? [])].map((name) => ({ namespace, name }));
  return {
    name: 'resourcequota-controller',
    for: resourceQuotas,
    indexes: [quotasByNamespace],
    // What the API server adds to a status is of objects that the cache may not show yet.
    when: (change) => change.kind !== 'updated' || !deepEqual(change.previous.spec, change.object.spec),
    watches: cachedKinds.map((type) => watchSource({ type, map: quotasOf, when: isCounted })),
    debounceMs: 100,
    concurrency: 5,
    async reconcile(key, context) {
      const { namespace = '' } = key;
      const quota = context.cache.get(resourceQuotas, key);
      remember(inNamespace, namespace, context);
      if (quota === undefined) return undefined;
      const hard = quota.spec?.hard ?? {};
      const counted = await countKinds(Object.keys(hard), namespace, context);
      const status = { hard, used: usedOf(quota, counted) };
      try {
        await updateStatus(context.client, resourceQuotas, quota, status);
      } catch (error) {
        // Something was made in between, and is in the status already.
        if (isStatusError(error, 'Conflict')) return { requeueAfterMs: 50 };
        throw error;
      }
      const isWatched = counted.every(({ type }) => cachedKinds.includes(type));
      return { requeueAfterMs: isWatched ? resyncMs : recountMs };
    },
  };
}

/** Which quotas a change in the namespace concerns. */
function remember(inNamespace: Map<string, Set<string>>, namespace: string, { cache }: ReconcileContext): void {
  const names = cache.byIndex(quotasByNamespace, namespace).map(({ metadata }) => metadata.name ?? '');
  if (names.length === 0) inNamespace.delete(namespace);
  else inNamespace.set(namespace, new Set(names));
}

/** Something is there, gone, has ended, or asks for something else. */
function isCounted(change: Change<KubernetesObject>): boolean {
  return change.kind !== 'updated' || !deepEqual(countedPart(change.previous), countedPart(change.object));
}

function countedPart(
  object: KubernetesObject & { readonly spec?: unknown; readonly status?: { readonly phase?: string } },
) {
  const hasEnded = object.status?.phase === 'Succeeded' || object.status?.phase === 'Failed';
  return [object.spec, hasEnded];
}

/** Counts the kinds that a quota speaks of: those in the cache as objects, of others only how many there are. */
async function countKinds(
  names: readonly string[],
  namespace: string,
  context: ReconcileContext,
): Promise<readonly Counted[]> {
  const isConcerned = (type: ResourceType) => names.some((name) => isCountedIn(name, type));
  const cached = cachedKinds.filter(isConcerned);
  const counted: Counted[] = cached.map((type) => ({ type, objects: context.cache.list(type, { namespace }) }));
  const isCovered = (name: string) => cachedKinds.some((type) => isCountedIn(name, type));
  if (names.every(isCovered)) return counted;
  const { resources } = await discover(context.client, context.signal);
  const known = new Set(cachedKinds.map(({ group, plural }) => `${plural}.${group}`));
  const others = resources.filter(
    (type) => type.isNamespaced && !known.has(`${type.plural}.${type.group}`) && isConcerned(type),
  );
  for (const type of others) {
    const list = await context.client.list(type, { namespace, limit: 1, metadataOnly: true, signal: context.signal });
    counted.push({ type, objects: list.items.length + (list.metadata.remainingItemCount ?? 0) });
  }
  return counted;
}
