import {
  compareQuantities,
  countedKinds,
  type FieldError,
  fieldError,
  formatQuantity,
  parseQuantity,
  qualifiedNameErrors,
  quantityToNumber,
} from '@castellan/machinery';
import { at, type JsonRecord, record, records, text } from '../json.js';

/** Things that are counted whole. */
export const countedResources: ReadonlySet<string> = new Set([
  ...countedKinds,
  'services.loadbalancers',
  'services.nodeports',
]);

/** Amounts of what pods use, as quotas name them. */
export const measuredResources: ReadonlySet<string> = new Set([
  'cpu',
  'memory',
  'ephemeral-storage',
  'requests.cpu',
  'requests.memory',
  'requests.storage',
  'requests.ephemeral-storage',
  'limits.cpu',
  'limits.memory',
  'limits.ephemeral-storage',
]);
/** Names without a domain that are known anywhere. */
const standardResources: ReadonlySet<string> = new Set([...countedResources, ...measuredResources, 'storage']);
const containerResources: ReadonlySet<string> = new Set(['cpu', 'memory', 'ephemeral-storage']);
const computeResources = ['cpu', 'memory'];
const hugePages = 'hugepages-';
const nativeDomain = 'kubernetes.io/';

/** The rules of what a container, or a pod as a whole, asks for and may have. */
export function resourceErrors(
  resources: JsonRecord,
  path: string,
  claims: readonly string[] = [],
): readonly FieldError[] {
  const limits = record(resources.limits);
  const requests = record(resources.requests);
  const names = [...Object.keys(limits), ...Object.keys(requests)];
  const lacksCompute = names.some(isHugePages) && !names.some((name) => computeResources.includes(name));
  return [
    ...Object.entries(limits).flatMap(([name, value]) => amountErrors(name, value, `${path}.limits[${name}]`)),
    ...Object.entries(requests).flatMap(([name, value]) => [
      ...amountErrors(name, value, `${path}.requests[${name}]`),
      ...limitErrors(name, value, { limit: at(limits, name), path }),
    ]),
    ...(lacksCompute ? [fieldError.forbidden(path, 'HugePages require cpu or memory')] : []),
    ...claimErrors(records(resources.claims), claims, `${path}.claims`),
  ];
}

function isHugePages(name: string): boolean {
  return name.startsWith(hugePages);
}

/** Those of Kubernetes itself; all others are somebody's own. */
function isNative(name: string): boolean {
  return !name.includes('/') || name.includes(nativeDomain);
}

function limitErrors(
  name: string,
  value: unknown,
  { limit, path }: { readonly limit: unknown; readonly path: string },
): readonly FieldError[] {
  const isSoft = mayOvercommit(name);
  if (limit === undefined) {
    const problem = 'Limit must be set for non overcommitable resources';
    return isSoft ? [] : [fieldError.required(`${path}.limits`, problem)];
  }
  const order = compareQuantities(parseQuantity(String(value)), parseQuantity(String(limit)));
  const refused = (relation: string) => [
    fieldError.invalid(`${path}.requests`, shown(value), `must be ${relation} ${name} limit of ${shown(limit)}`),
  ];
  if (!isSoft && order !== 0) return refused('equal to');
  return order > 0 ? refused('less than or equal to') : [];
}

/** The rules of an amount of a resource; those of others than Kubernetes are whole numbers. */
export function quantityErrors(name: string, value: unknown, path: string): readonly FieldError[] {
  const amount = quantityToNumber(parseQuantity(String(value)));
  const isExtended = !isNative(name) && !name.startsWith('requests.');
  const isWhole = !(isExtended || countedResources.has(name)) || Number.isInteger(amount);
  return [
    ...(amount < 0 ? [fieldError.invalid(path, shown(value), 'must be greater than or equal to 0')] : []),
    ...(isWhole ? [] : [fieldError.invalid(path, shown(value), 'must be an integer')]),
  ];
}

function amountErrors(name: string, value: unknown, path: string): readonly FieldError[] {
  const amount = quantityToNumber(parseQuantity(String(value)));
  return [
    ...containerResourceErrors(name, path),
    ...quantityErrors(name, value, path),
    ...(isHugePages(name) && !isMultiple(amount, name)
      ? [fieldError.invalid(path, shown(value), `${shown(value)} is not positive integer multiple of ${name}`)]
      : []),
  ];
}

/** What a container can ask for, by name. */
export function containerResourceErrors(name: string, path: string): readonly FieldError[] {
  const isKnown = containerResources.has(name) || isHugePages(name);
  const isExtended = !name.startsWith('requests.') && qualifiedNameErrors(`requests.${name}`).length === 0;
  const problem = name.includes('/')
    ? isNative(name) || isExtended
      ? ''
      : "doesn't follow extended resource name standard"
    : isKnown
      ? ''
      : 'must be a standard resource for containers';
  return [...resourceNameErrors(name, path), ...(problem === '' ? [] : [fieldError.invalid(path, name, problem)])];
}

/** The name of a resource: a known one, or one with a domain. */
export function resourceNameErrors(name: string, path: string): readonly FieldError[] {
  const badForm = qualifiedNameErrors(name).map((problem) => fieldError.invalid(path, name, problem));
  if (badForm.length > 0 || name.includes('/') || standardResources.has(name) || isHugePages(name)) return badForm;
  return [fieldError.invalid(path, name, 'must be a standard resource type or fully qualified')];
}

/** Whether more of a resource may be promised than there is. */
export function mayOvercommit(name: string): boolean {
  return isNative(name) && !isHugePages(name);
}

function isMultiple(amount: number, name: string): boolean {
  try {
    const size = quantityToNumber(parseQuantity(name.slice(hugePages.length)));
    return size > 0 && Number.isInteger(size) && amount % size === 0;
  } catch {
    // The name says no size: nothing is a multiple of it.
    return false;
  }
}

function claimErrors(used: readonly JsonRecord[], claims: readonly string[], path: string): readonly FieldError[] {
  const names = used.map(({ name, request }) => `${text(name) ?? ''}/${text(request) ?? ''}`);
  return used.flatMap((claim, index) => {
    const own = `${path}[${index}]`;
    const name = text(claim.name) ?? '';
    if (name === '') return [fieldError.required(own)];
    return [
      ...(names.indexOf(names[index] ?? '') < index ? [fieldError.duplicate(own, name)] : []),
      ...(claims.includes(name) ? [] : [fieldError.notFound(own, name)]),
    ];
  });
}

function shown(value: unknown): string {
  return formatQuantity(parseQuantity(String(value)));
}
