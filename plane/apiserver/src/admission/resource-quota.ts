import {
  type Amounts,
  addQuantities,
  compareQuantities,
  formatQuantity,
  isCountedIn,
  isInQuotaScope,
  parseAmounts,
  parseQuantity,
  type Quantity,
  quotaUsage,
  sumOfAmounts,
} from '@castellan/machinery';
import { forbidden } from '../errors.js';
import { type ApiObject, at, records, text } from '../json.js';
import type { AdmissionWrite } from '../registry/admission-control.js';
import type { ResourceDefinition, ResourceStore } from '../registry/resource.js';
import { storageKey } from '../storage/keys.js';
import type { AdmissionContext, AdmissionPlugin } from './admission-plugin.js';

/** Quotas of these need every container of a pod to say how much it asks for. */
const computeNames: readonly string[] = [
  'cpu',
  'memory',
  'requests.cpu',
  'requests.memory',
  'limits.cpu',
  'limits.memory',
];

/** ResourceQuota: what a namespace may hold. Usage is counted with the write, so that two writers cannot share a rest. */
export const resourceQuota: AdmissionPlugin = {
  handles: ({ operation, subresource, namespace, definition }) => {
    const isCounted = operation === 'CREATE' ? subresource === '' : isGrowth(operation, subresource, definition);
    return isCounted && namespace !== undefined && definition.plural !== 'resourcequotas';
  },
  async validate(write, context) {
    const quotas = await context.server.registry.find({ group: '', version: 'v1', plural: 'resourcequotas' });
    if (quotas === undefined || write.object === undefined) return;
    const { store } = quotas;
    await store.cache.fresh();
    const entries = store.cache.list(`${store.layout.prefix}${write.namespace ?? ''}/`);
    if (entries.length === 0) return;
    const usage = addedUsage(write);
    if (usage.size === 0) return;
    const concerned = entries
      .map((entry) => entry.object)
      .filter((quota) => isInQuotaScope(quota, write.definition, write.object));
    for (const quota of concerned) {
      if (write.current === undefined) assertSaysAmounts(quota, write);
      const used = await usedWithRoom(quota, write, { usage, context });
      if (!context.isDryRun) await charge(store, quota, { write, usage, used });
    }
  },
};

/** Kinds of which an object that is there may come to use more. */
const growingKinds: readonly string[] = ['persistentvolumeclaims', 'pods', 'services'];

function isGrowth(operation: string, subresource: string, { group, plural }: ResourceDefinition): boolean {
  const isMain = subresource === '' || subresource === 'resize';
  return operation === 'UPDATE' && isMain && group === '' && growingKinds.includes(plural);
}

/** What a write uses that was not used before it. */
function addedUsage({ definition, object, current }: AdmissionWrite): Amounts {
  if (object === undefined) return new Map();
  const usage = quotaUsage(definition, object);
  if (current === undefined) return usage;
  const before = quotaUsage(definition, current);
  const added = [...usage].map(([name, amount]) => [name, difference(amount, before.get(name))] as const);
  return new Map(added.filter(([, amount]) => amount.nano > 0n));
}

function difference(amount: Quantity, before: Quantity | undefined): Quantity {
  return before === undefined ? amount : { ...amount, nano: amount.nano - before.nano };
}

interface Charge {
  readonly write: AdmissionWrite;
  readonly usage: Amounts;
  /** What was used before, as it was judged. */
  readonly used: Amounts;
}

/** What a quota's namespace uses, with room for more. Before it refuses, it counts: what was deleted uses nothing. */
async function usedWithRoom(
  quota: ApiObject,
  write: AdmissionWrite,
  { usage, context }: { readonly usage: Amounts; readonly context: AdmissionContext },
): Promise<Amounts> {
  const known = parseAmounts(at(quota, 'status', 'used'));
  const hard = parseAmounts(at(quota, 'spec', 'hard'));
  const isKnown = [...hard.keys()].every((name) => known.has(name));
  if (isKnown && excess(hard, known, usage).length === 0) return known;
  const counted = await countUsage(quota, write.namespace ?? '', context);
  assertWithin(quota, write, usage, counted);
  return counted;
}

/** Adds to the quota's status; fails where another writer has taken the rest in between. */
async function charge(store: ResourceStore, quota: ApiObject, { write, usage, used }: Charge): Promise<void> {
  const { namespace = '', name = '', resourceVersion } = quota.metadata;
  await store.storage.guaranteedUpdate(storageKey(store.layout, { namespace, name }), (current) => {
    const isSame = current.metadata.resourceVersion === resourceVersion;
    const before = isSame ? used : parseAmounts(at(current, 'status', 'used'));
    assertWithin(current, write, usage, before);
    const hard = at(current, 'spec', 'hard');
    const after = [...parseAmounts(hard).keys()].map(
      (resource) => [resource, formatQuantity(total(before.get(resource), usage.get(resource)))] as const,
    );
    return { type: 'put', object: { ...current, status: { hard, used: Object.fromEntries(after) } } };
  });
}

/** Counts the namespace's objects of every kind that the quota speaks of. */
async function countUsage(quota: ApiObject, namespace: string, { server }: AdmissionContext): Promise<Amounts> {
  const names = [...parseAmounts(at(quota, 'spec', 'hard')).keys()];
  let counted: Amounts = new Map(names.map((name) => [name, parseQuantity('0')]));
  for (const definition of await server.registry.definitions()) {
    const isConcerned = names.some((name) => isCountedIn(name, definition));
    if (!isConcerned || !definition.isNamespaced) continue;
    const resource = await server.registry.find(definition);
    if (resource === undefined) continue;
    await resource.store.cache.fresh();
    for (const { object } of resource.store.cache.list(`${resource.store.layout.prefix}${namespace}/`)) {
      if (!isInQuotaScope(quota, definition, object)) continue;
      const usage = new Map([...quotaUsage(definition, object)].filter(([name]) => names.includes(name)));
      counted = sumOfAmounts(counted, usage);
    }
  }
  return counted;
}

function assertSaysAmounts(quota: ApiObject, { definition, name, object }: AdmissionWrite): void {
  if (definition.group !== '' || definition.plural !== 'pods') return;
  const hard = parseAmounts(at(quota, 'spec', 'hard'));
  const limited = [...hard.keys()].filter((resource) => computeNames.includes(resource)).sort();
  const missing = limited.flatMap((resource) => {
    const containers = containersWithout(object, resource);
    return containers.length === 0 ? [] : [`${resource} for: ${containers.join(',')}`];
  });
  if (missing.length === 0) return;
  throw forbidden(definition, name, `failed quota: ${quota.metadata.name ?? ''}: must specify ${missing.join('; ')}`);
}

function assertWithin(quota: ApiObject, { definition, name }: AdmissionWrite, usage: Amounts, used: Amounts): void {
  const hard = parseAmounts(at(quota, 'spec', 'hard'));
  const over = excess(hard, used, usage);
  if (over.length === 0) return;
  const shown = (amounts: Amounts) =>
    over.map((resource) => `${resource}=${formatQuantity(amounts.get(resource) ?? parseQuantity('0'))}`).join(',');
  const amounts = `requested: ${shown(usage)}, used: ${shown(used)}, limited: ${shown(hard)}`;
  throw forbidden(definition, name, `exceeded quota: ${quota.metadata.name ?? ''}, ${amounts}`);
}

/** The resources of which there would be more than the quota allows. */
function excess(hard: Amounts, used: Amounts, usage: Amounts): readonly string[] {
  return [...usage.keys()].sort().filter((resource) => {
    const limit = hard.get(resource);
    return limit !== undefined && compareQuantities(total(used.get(resource), usage.get(resource)), limit) > 0;
  });
}

function containersWithout(pod: ApiObject | undefined, resource: string): readonly string[] {
  const kind = resource.startsWith('limits.') ? 'limits' : 'requests';
  const own = resource.replace(/^(requests|limits)\./, '');
  const containers = [...records(at(pod, 'spec', 'initContainers')), ...records(at(pod, 'spec', 'containers'))];
  return containers
    .filter((container) => at(container, 'resources', kind, own) === undefined)
    .map((container) => text(container.name) ?? '');
}

function total(left: Quantity | undefined, right: Quantity | undefined): Quantity {
  const zero = parseQuantity('0');
  return addQuantities(left ?? zero, right ?? zero);
}
