import type { Client } from '@castellan/client';
import { isStatusError, type KubernetesObject, keyOf, pods, resourceName } from '@castellan/machinery';
import type { ServedResource } from '../discovery.js';

/** What was left in a namespace when every deletion in it had been asked for. */
export interface Remains {
  /** Number of objects by resource, `pods.` or `etcdclusters.example.com` as upstream; only resources that have some. */
  readonly objects: ReadonlyMap<string, number>;
  /** Number of objects that each finalizer holds back. */
  readonly finalizers: ReadonlyMap<string, number>;
  readonly failures: readonly string[];
}

const parallelResources = 4;

/**
 * Asks for the deletion of everything in a namespace: its pods first, and the rest only when no pod is left, so that no
 * pod outlives its secrets, volumes and policies (upstream: OrderedNamespaceDeletion).
 */
export async function deleteContent(
  namespace: string,
  resources: readonly ServedResource[],
  { client, signal }: { readonly client: Client; readonly signal: AbortSignal },
): Promise<Remains> {
  const deletable = resources.filter(
    ({ isNamespaced, verbs }) => isNamespaced && verbs.includes('list') && verbs.includes('delete'),
  );
  const tally = new Tally();
  const deleteResource = async (resource: ServedResource) => {
    try {
      for (const left of await deleteAll(resource, namespace, client, signal)) tally.add(resource, left);
    } catch (error) {
      if (signal.aborted) throw error;
      tally.failures.push(`${resourceName(resource)}: ${error instanceof Error ? error.message : String(error)}`);
    }
  };

  for (const resource of deletable.filter(isPods)) await deleteResource(resource);
  if (tally.objects.size > 0 || tally.failures.length > 0) return tally;
  const rest = deletable.filter((resource) => !isPods(resource));
  await Promise.all(
    Array.from({ length: parallelResources }, async () => {
      for (let next = rest.shift(); next !== undefined; next = rest.shift()) await deleteResource(next);
    }),
  );
  return tally;
}

class Tally implements Remains {
  readonly objects = new Map<string, number>();
  readonly finalizers = new Map<string, number>();
  readonly failures: string[] = [];

  add(resource: ServedResource, object: KubernetesObject): void {
    increment(this.objects, `${resource.plural}.${resource.group}`);
    for (const finalizer of object.metadata.finalizers ?? []) increment(this.finalizers, finalizer);
  }
}

function increment(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function isPods(resource: ServedResource): boolean {
  return resource.group === pods.group && resource.plural === pods.plural;
}

/** Those objects that are still there afterwards: finalizers or a grace period hold them. */
async function deleteAll(
  resource: ServedResource,
  namespace: string,
  client: Client,
  signal: AbortSignal,
): Promise<readonly KubernetesObject[]> {
  const list = { namespace, metadataOnly: true, signal };
  const before = await client.list(resource, list);
  const asked = before.items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  for (const object of asked) await deleteOne(resource, { ...object.metadata, namespace }, client, signal);
  return asked.length === 0 ? before.items : (await client.list(resource, list)).items;
}

async function deleteOne(
  resource: ServedResource,
  metadata: KubernetesObject['metadata'],
  client: Client,
  signal: AbortSignal,
): Promise<void> {
  const { uid } = metadata;
  try {
    await client.delete(resource, keyOf({ metadata }), {
      propagationPolicy: 'Background',
      ...(uid === undefined ? {} : { preconditions: { uid } }),
      signal,
    });
  } catch (error) {
    // Another object of that name since the list: it is seen in the next one.
    if (!isStatusError(error, 'Conflict')) throw error;
  }
}
