import { isStatusError, keyOf, type Namespace, namespaces } from '@castellan/machinery';
import type { Controller, ReconcileContext } from '@castellan/runtime';
import { type Discovery, discover } from '../discovery.js';
import { planConditions } from './namespace-conditions.js';
import { deleteContent, type Remains } from './namespace-content.js';

const finalizer = 'kubernetes';

/** Empties a namespace that is being deleted, says in its conditions what still holds it, and lets it go when empty. */
export function namespaceDeletionController(): Controller<Namespace> {
  return {
    name: 'namespace-deletion',
    for: namespaces,
    concurrency: 2,
    async reconcile({ name }, context) {
      const cached = context.cache.get(namespaces, { name });
      if (cached?.metadata.deletionTimestamp === undefined || !isHeld(cached)) return undefined;
      // What may be deleted is decided on the namespace as it is now, not as it was.
      const namespace = await context.client.find(namespaces, { name }, { signal: context.signal });
      if (namespace?.metadata.deletionTimestamp === undefined || !isHeld(namespace)) return undefined;

      const discovery = await discover(context.client, context.signal);
      const remains = await deleteContent(name, discovery.resources, context);
      const isEmpty = discovery.failed.length === 0 && remains.objects.size === 0 && remains.failures.length === 0;
      try {
        if (isEmpty) await finalize(namespace, context);
        else await writeConditions(namespace, discovery, remains, context);
      } catch (error) {
        if (!isStatusError(error, 'Conflict', 'NotFound')) throw error;
      }
      return isEmpty ? undefined : { requeueAfterMs: nextLookMs(namespace, context.world.clock.now()) };
    },
  };
}

function isHeld(namespace: Namespace): boolean {
  return namespace.spec?.finalizers?.includes(finalizer) ?? false;
}

async function finalize(namespace: Namespace, { client, signal }: ReconcileContext): Promise<void> {
  const finalizers = namespace.spec?.finalizers?.filter((held) => held !== finalizer) ?? [];
  const finalized = { ...namespace, spec: { ...namespace.spec, finalizers } };
  await client.update(namespaces, finalized, { subresource: 'finalize', signal });
}

async function writeConditions(
  namespace: Namespace,
  discovery: Discovery,
  remains: Remains,
  { client, signal, world }: ReconcileContext,
): Promise<void> {
  const before = namespace.status?.conditions ?? [];
  const now = new Date(world.clock.now()).toISOString().replace(/\.\d+Z$/, 'Z');
  const conditions = planConditions(before, discovery, remains, now);
  if (conditions === before) return;
  const patch = { type: 'merge', body: { status: { conditions } } } as const;
  await client.patch(namespaces, keyOf(namespace), patch, { subresource: 'status', signal });
}

/** Soon at first, then as often as fits the time it has taken: between 100 ms and 5 s. */
function nextLookMs(namespace: Namespace, nowMs: number): number {
  const sinceMs = nowMs - Date.parse(namespace.metadata.deletionTimestamp ?? '');
  return Math.min(5_000, Math.max(100, Number.isNaN(sinceMs) ? 0 : sinceMs / 4));
}
