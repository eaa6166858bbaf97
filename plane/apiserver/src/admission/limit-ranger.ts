import {
  type Amounts,
  compareQuantities,
  formatQuantity,
  parseAmounts,
  podAmounts,
  type Quantity,
} from '@castellan/machinery';
import { forbidden } from '../errors.js';
import { type ApiObject, at, type JsonRecord, record, records, text, withAt } from '../json.js';
import type { AdmissionWrite } from '../registry/admission-control.js';
import { type AdmissionContext, type AdmissionPlugin, isCreateOf } from './admission-plugin.js';

const containerLists = ['containers', 'initContainers'] as const;

/** LimitRanger: what containers ask for when they do not say, and how much any one object may ask for. */
export const limitRanger: AdmissionPlugin = {
  handles: (write) => isCreateOf(write, '', 'pods') || isCreateOf(write, '', 'persistentvolumeclaims'),
  async mutate(write, context) {
    if (write.definition.plural !== 'pods') return write.object;
    const limits = (await limitsOf(write, context)).filter(({ type }) => type === 'Container');
    return limits.reduce(withContainerDefaults, write.object);
  },
  async validate(write, context) {
    const problems = (await limitsOf(write, context)).flatMap((limit) => problemsOf(write, limit));
    const [only] = problems;
    if (only === undefined) return;
    throw forbidden(write.definition, write.name, problems.length === 1 ? only : `[${problems.join(', ')}]`);
  },
};

async function limitsOf({ namespace }: AdmissionWrite, { server }: AdmissionContext): Promise<readonly JsonRecord[]> {
  const ranges = await server.registry.find({ group: '', version: 'v1', plural: 'limitranges' });
  if (ranges === undefined) return [];
  const { store } = ranges;
  await store.cache.fresh();
  const inNamespace = store.cache.list(`${store.layout.prefix}${namespace ?? ''}/`);
  return inNamespace.flatMap((entry) => records(at(entry.object, 'spec', 'limits')));
}

function withContainerDefaults(pod: ApiObject, limit: JsonRecord): ApiObject {
  let spec = record(pod.spec);
  for (const field of containerLists) {
    if (spec[field] === undefined) continue;
    spec = { ...spec, [field]: records(spec[field]).map((container) => withDefaults(container, limit)) };
  }
  return { ...pod, spec };
}

function withDefaults(container: JsonRecord, limit: JsonRecord): JsonRecord {
  let result = container;
  const fill = (kind: 'limits' | 'requests', amounts: unknown) => {
    for (const [name, amount] of Object.entries(record(amounts))) {
      if (at(result, 'resources', kind, name) !== undefined) continue;
      // A request is not filled in where the container's own limit already says what it asks for.
      if (kind === 'requests' && at(container, 'resources', 'limits', name) !== undefined) continue;
      result = withAt(result, ['resources', kind, name], amount);
    }
  };
  fill('limits', limit.default);
  fill('requests', limit.defaultRequest);
  return result;
}

function problemsOf({ definition, object }: AdmissionWrite, limit: JsonRecord): readonly string[] {
  const type = text(limit.type) ?? '';
  if (object === undefined) return [];
  const isPod = definition.plural === 'pods';
  if (type === 'PersistentVolumeClaim' && !isPod) {
    return check(limit, type, {
      requests: parseAmounts(at(object, 'spec', 'resources', 'requests')),
      limits: new Map(),
    });
  }
  if (type === 'Pod' && isPod) {
    return check(limit, type, { requests: podAmounts(object, 'requests'), limits: podAmounts(object, 'limits') });
  }
  if (type !== 'Container' || !isPod) return [];
  return containerLists.flatMap((field) =>
    records(at(object, 'spec', field)).flatMap((container) =>
      check(limit, type, {
        requests: parseAmounts(at(container, 'resources', 'requests')),
        limits: parseAmounts(at(container, 'resources', 'limits')),
      }),
    ),
  );
}

interface Asked {
  readonly requests: Amounts;
  readonly limits: Amounts;
}

/** One problem at most for each of the limits. Source: upstream's minConstraint, maxConstraint and their like. */
function check(limit: JsonRecord, type: string, asked: Asked): readonly string[] {
  const problems = [
    ...[...parseAmounts(limit.min)].map(([name, least]) => minimumProblem(type, name, least, asked)),
    ...[...parseAmounts(limit.max)].map(([name, most]) => maximumProblem(type, name, most, asked)),
    ...[...parseAmounts(limit.maxLimitRequestRatio)].map(([name, most]) => ratioProblem(type, name, most, asked)),
  ];
  return problems.filter((problem) => problem !== undefined);
}

function minimumProblem(type: string, name: string, least: Quantity, { requests, limits }: Asked): string | undefined {
  const [request, bound] = [requests.get(name), limits.get(name)];
  const rule = `minimum ${name} usage per ${type} is ${formatQuantity(least)}`;
  if (request === undefined) return `${rule}.  No request is specified`;
  if (compareQuantities(request, least) < 0) return `${rule}, but request is ${formatQuantity(request)}`;
  if (bound === undefined || compareQuantities(bound, least) >= 0) return undefined;
  return `${rule}, but limit is ${formatQuantity(bound)}`;
}

/** Claims have no limits: what they request is judged. */
function maximumProblem(type: string, name: string, most: Quantity, { requests, limits }: Asked): string | undefined {
  const [request, bound] = [requests.get(name), limits.get(name)];
  const rule = `maximum ${name} usage per ${type} is ${formatQuantity(most)}`;
  const isClaim = type === 'PersistentVolumeClaim';
  if (isClaim && request === undefined) return `${rule}.  No request is specified`;
  if (!isClaim && bound === undefined) return `${rule}.  No limit is specified`;
  if (bound !== undefined && compareQuantities(bound, most) > 0)
    return `${rule}, but limit is ${formatQuantity(bound)}`;
  if (request === undefined || compareQuantities(request, most) <= 0) return undefined;
  return `${rule}, but request is ${formatQuantity(request)}`;
}

function ratioProblem(type: string, name: string, most: Quantity, { requests, limits }: Asked): string | undefined {
  const [request, bound] = [requests.get(name), limits.get(name)];
  const rule = `${name} max limit to request ratio per ${type} is ${formatQuantity(most)}`;
  if (request === undefined || request.nano === 0n) return `${rule}, but no request is specified or request is 0`;
  if (bound === undefined || bound.nano === 0n) return `${rule}, but no limit is specified or limit is 0`;
  const ratio = Number(bound.nano) / Number(request.nano);
  return ratio <= Number(most.nano) / 1e9 ? undefined : `${rule}, but provided ratio is ${ratio.toFixed(6)}`;
}
