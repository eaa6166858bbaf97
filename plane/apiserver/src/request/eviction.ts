import { StatusError } from '@castellan/machinery';
import { badRequest, conflict, internalError, methodNotAllowed, notFound } from '../errors.js';
import { type ApiObject, at, type JsonRecord, list, record, records } from '../json.js';
import { budgetProblem, withEvicted } from '../pods/disruption.js';
import { type DeleteOptions, deleteObject } from '../registry/delete.js';
import type { Resource } from '../registry/resource.js';
import { timestamp } from '../registry/strategy.js';
import { storageKey } from '../storage/keys.js';
import { selects } from '../strategies/label-selector.js';
import { readObject } from './body.js';
import { deleteOptionsOf } from './delete-options.js';
import type { ResourceExchange } from './exchange.js';
import type { Server } from './server.js';

const evictionKind = { group: 'policy', version: 'v1', kind: 'Eviction', otherVersions: ['v1beta1'] } as const;
const attempts = 5;

/** What an eviction is about, told by its body and its path. */
interface Eviction {
  readonly namespace: string;
  readonly name: string;
  readonly options: DeleteOptions;
  readonly isDryRun: boolean;
}

/** POST pods/NAME/eviction: deletes a pod, unless its disruption budget wants it to stay. Source: KEP-85. */
export async function serveEviction(server: Server, exchange: ResourceExchange): Promise<void> {
  const { info, request, reply, tools } = exchange;
  if (request.method !== 'POST') throw methodNotAllowed();
  const { object: body } = await readObject(request, evictionKind);
  const name = info.name ?? '';
  if ((body.metadata.name ?? '') !== name) throw badRequest('name in URL does not match name in Eviction object');
  const { options, isDryRun } = deleteOptionsOf(record(body.deleteOptions));
  await evict(server, exchange, {
    namespace: info.namespace ?? '',
    name,
    options,
    isDryRun: isDryRun || tools.context.isDryRun,
  });
  await reply.object(201, { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 });
}

async function evict(server: Server, exchange: ResourceExchange, eviction: Eviction): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const pod = await podOf(exchange.resource, eviction);
    const isSure = await mayGo(server, exchange, eviction, pod);
    try {
      return await deletePod(exchange, eviction, isSure ? undefined : pod.metadata.resourceVersion);
    } catch (error) {
      // The pod has changed since it was looked at; unless the client insists on one version, it is looked at again.
      const isOurs = !isSure && eviction.options.preconditions?.resourceVersion === undefined;
      const isConflict = error instanceof StatusError && error.reason === 'Conflict';
      if (!isOurs || !isConflict || attempt === attempts) throw error;
    }
  }
}

async function podOf({ definition, store }: Resource, { namespace, name }: Eviction): Promise<ApiObject> {
  const pod = await store.storage.get(storageKey(store.layout, { namespace, name }));
  if (pod === undefined) throw notFound(definition, name);
  return pod;
}

/**
 * Asks the budget of a pod, and takes what the eviction uses of it. True: the pod may go whatever becomes of it; false:
 * only as it is now. Fails with 429 when the budget is spent.
 */
async function mayGo(
  server: Server,
  { tools }: ResourceExchange,
  { namespace, name, isDryRun }: Eviction,
  pod: ApiObject,
): Promise<boolean> {
  const { phase, conditions } = record(pod.status);
  if (phase === 'Succeeded' || phase === 'Failed' || pod.metadata.deletionTimestamp !== undefined) return true;
  if (phase === 'Pending') return false;
  const budgets = await server.registry.find({ group: 'policy', version: 'v1', plural: 'poddisruptionbudgets' });
  const [budget, second] = budgets === undefined ? [] : await budgetsOf(budgets, namespace, pod);
  if (second !== undefined) {
    throw internalError(
      'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    );
  }
  if (budgets === undefined || budget === undefined) return true;
  const isReady = records(conditions).some(({ type, status }) => type === 'Ready' && status === 'True');
  if (!isReady && isUnguarded(budget)) return false;
  const { store } = budgets;
  const key = storageKey(store.layout, { namespace, name: budget.metadata.name ?? '' });
  if (isDryRun) {
    assertAllowed(budget);
    return true;
  }
  await store.storage.guaranteedUpdate(key, (current) => {
    assertAllowed(current);
    return { type: 'put', object: withEvicted(current, name, timestamp(tools.context.world)) };
  });
  return true;
}

function assertAllowed(budget: ApiObject): void {
  const problem = budgetProblem(budget);
  if (problem !== undefined) throw problem;
}

/** Pods that are not ready count for no budget, once it has all that it wants or says so. */
function isUnguarded(budget: ApiObject): boolean {
  if (at(budget, 'spec', 'unhealthyPodEvictionPolicy') === 'AlwaysAllow') return true;
  const { currentHealthy, desiredHealthy } = record(budget.status);
  const desired = Number(desiredHealthy ?? 0);
  return desired > 0 && Number(currentHealthy ?? 0) >= desired;
}

async function budgetsOf({ store }: Resource, namespace: string, pod: ApiObject): Promise<readonly ApiObject[]> {
  const labels: JsonRecord = record(pod.metadata.labels);
  if (Object.keys(labels).length === 0) return [];
  await store.cache.fresh();
  const all = store.cache.list(`${store.layout.prefix}${namespace}/`).map((entry) => entry.object);
  return all.filter((budget) => selects(at(budget, 'spec', 'selector'), labels));
}

const targetCondition = {
  type: 'DisruptionTarget',
  status: 'True',
  lastProbeTime: null,
  reason: 'EvictionByEvictionAPI',
  message: 'Eviction API: evicting',
} as const;

/** Marks the pod as evicted, and deletes it; `onlyVersion` is the version that it must still have. */
async function deletePod(
  { resource, tools }: ResourceExchange,
  { namespace, name, options, isDryRun }: Eviction,
  onlyVersion: string | undefined,
): Promise<void> {
  const { context } = tools;
  const { definition, store } = resource;
  const wanted = options.preconditions?.resourceVersion ?? onlyVersion;
  let preconditions = { ...options.preconditions, ...(wanted === undefined ? {} : { resourceVersion: wanted }) };
  if (!isDryRun) {
    const marked = await store.storage.guaranteedUpdate(storageKey(store.layout, { namespace, name }), (pod) => {
      if (wanted !== undefined && pod.metadata.resourceVersion !== wanted) {
        const found = pod.metadata.resourceVersion ?? '';
        const problem = `the ResourceVersion in the precondition (${wanted}) does not match the ResourceVersion in record (${found}). The object might have been modified`;
        throw conflict({ ...definition, plural: definition.kind }, name, problem);
      }
      return { type: 'put', object: withTarget(pod, timestamp(context.world)) };
    });
    const version = marked?.object.metadata.resourceVersion;
    if (wanted !== undefined && version !== undefined) preconditions = { ...preconditions, resourceVersion: version };
  }
  await deleteObject(resource, { namespace, name }, { ...options, preconditions }, { ...context, isDryRun });
}

function withTarget(pod: ApiObject, now: string): ApiObject {
  const status = record(pod.status);
  const conditions = list(status.conditions);
  const isMarked = records(conditions).some(
    ({ type, status: value }) => type === 'DisruptionTarget' && value === 'True',
  );
  if (isMarked) return pod;
  const others = conditions.filter((condition) => record(condition).type !== 'DisruptionTarget');
  return { ...pod, status: { ...status, conditions: [...others, { ...targetCondition, lastTransitionTime: now }] } };
}
