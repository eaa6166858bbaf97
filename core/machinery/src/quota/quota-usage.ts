import type { ResourceType } from '../resource-type.js';
import { parseQuantity } from '../value/quantity.js';
import { type Amounts, largerAmounts, parseAmounts } from './amounts.js';
import { fieldAt, itemsAt } from './field.js';
import { podAmounts } from './pod-amounts.js';

/** What a kind is counted by. */
export type CountedType = Pick<ResourceType, 'group' | 'plural'>;

/** Kinds that quotas count under their own name, without `count/`. */
export const countedKinds: readonly string[] = [
  'configmaps',
  'persistentvolumeclaims',
  'pods',
  'replicationcontrollers',
  'resourcequotas',
  'secrets',
  'services',
];
const one = parseQuantity('1');

/** Whether objects of a kind use any of a resource that a quota names; those of computing are used by pods. */
export function isCountedIn(name: string, type: CountedType): boolean {
  const { group, plural } = type;
  if (name.startsWith('count/')) return name === countName(type);
  if (group !== '') return false;
  if (countedKinds.includes(name)) return name === plural;
  if (name.startsWith('services.')) return plural === 'services';
  if (name.endsWith('requests.storage') || name.includes('.storageclass.')) return plural === 'persistentvolumeclaims';
  return plural === 'pods';
}

/**
 * What one object uses of the quotas of its namespace. A pod that has ended counts as an object only. Source: Kubernetes,
 * "Resource Quotas".
 */
export function quotaUsage(type: CountedType, object: unknown): Amounts {
  const { group, plural } = type;
  const usage = new Map([[countName(type), one]]);
  if (group !== '' || (plural === 'pods' && hasEnded(object))) return usage;
  if (countedKinds.includes(plural)) usage.set(plural, one);
  switch (plural) {
    case 'pods':
      return new Map([...usage, ...podUsage(object)]);
    case 'services':
      return new Map([...usage, ...serviceUsage(object)]);
    case 'persistentvolumeclaims':
      return new Map([...usage, ...claimUsage(object)]);
    default:
      return usage;
  }
}

function countName({ group, plural }: CountedType): string {
  return group === '' ? `count/${plural}` : `count/${plural}.${group}`;
}

function hasEnded(pod: unknown): boolean {
  const phase = fieldAt(pod, 'status', 'phase');
  return phase === 'Succeeded' || phase === 'Failed';
}

function podUsage(pod: unknown): Amounts {
  const requests = [...podAmounts(pod, 'requests')].flatMap(
    ([name, amount]) =>
      [
        [`requests.${name}`, amount],
        [name, amount],
      ] as const,
  );
  const limits = [...podAmounts(pod, 'limits')].map(([name, amount]) => [`limits.${name}`, amount] as const);
  return new Map([...requests, ...limits]);
}

/** What it asks for, or was given already where an expansion was taken back. */
function claimUsage(claim: unknown): Amounts {
  const asked = parseAmounts(fieldAt(claim, 'spec', 'resources', 'requests'));
  const storage = largerAmounts(asked, parseAmounts(fieldAt(claim, 'status', 'allocatedResources'))).get('storage');
  const storageClass = fieldAt(claim, 'spec', 'storageClassName');
  const ofClass =
    typeof storageClass === 'string' && storageClass !== '' ? `${storageClass}.storageclass.storage.k8s.io/` : '';
  return new Map([
    ...(storage === undefined ? [] : ([['requests.storage', storage]] as const)),
    ...(ofClass === '' ? [] : ([[`${ofClass}persistentvolumeclaims`, one]] as const)),
    ...(ofClass === '' || storage === undefined ? [] : ([[`${ofClass}requests.storage`, storage]] as const)),
  ]);
}

function serviceUsage(service: unknown): Amounts {
  const type = fieldAt(service, 'spec', 'type');
  if (type !== 'NodePort' && type !== 'LoadBalancer') return new Map();
  const ports = itemsAt(service, 'spec', 'ports');
  const isWithout = type === 'LoadBalancer' && fieldAt(service, 'spec', 'allocateLoadBalancerNodePorts') === false;
  const taken = isWithout ? ports.filter((port) => Number(fieldAt(port, 'nodePort') ?? 0) > 0) : ports;
  return new Map([
    ['services.nodeports', parseQuantity(String(taken.length))],
    ...(type === 'LoadBalancer' ? ([['services.loadbalancers', one]] as const) : []),
  ]);
}
