import {
  compareQuantities,
  type FieldError,
  fieldError,
  formatQuantity,
  parseQuantity,
  quantityToNumber,
} from '@castellan/machinery';
import { type JsonRecord, record } from '../json.js';

const standardResources = new Set(['cpu', 'memory', 'ephemeral-storage', 'storage']);
const containerResources = new Set(['cpu', 'memory', 'ephemeral-storage']);
const hugePages = 'hugepages-';

/** The rules of what a container asks for and may have. */
export function resourceErrors(resources: JsonRecord, path: string): readonly FieldError[] {
  const limits = record(resources.limits);
  const requests = record(resources.requests);
  return [
    ...Object.entries(limits).flatMap(([name, value]) => amountErrors(name, value, `${path}.limits[${name}]`)),
    ...Object.entries(requests).flatMap(([name, value]) => [
      ...amountErrors(name, value, `${path}.requests[${name}]`),
      ...limitErrors(name, value, { limit: limits[name], path }),
    ]),
  ];
}

function limitErrors(
  name: string,
  value: unknown,
  { limit, path }: { readonly limit: unknown; readonly path: string },
): readonly FieldError[] {
  const isExtended = name.includes('/');
  if (limit === undefined) {
    const problem = 'Limit must be set for non overcommitable resources';
    return isExtended ? [fieldError.required(`${path}.limits`, problem)] : [];
  }
  const order = compareQuantities(parseQuantity(String(value)), parseQuantity(String(limit)));
  if (isExtended && order !== 0) {
    return [fieldError.invalid(`${path}.requests`, shown(value), `must be equal to ${name} limit of ${shown(limit)}`)];
  }
  if (order <= 0) return [];
  const problem = `must be less than or equal to ${name} limit of ${shown(limit)}`;
  return [fieldError.invalid(`${path}.requests`, shown(value), problem)];
}

function amountErrors(name: string, value: unknown, path: string): readonly FieldError[] {
  const amount = quantityToNumber(parseQuantity(String(value)));
  const isExtended = name.includes('/');
  const isHuge = name.startsWith(hugePages);
  return [
    ...(standardResources.has(name) || isExtended || isHuge
      ? []
      : [fieldError.invalid(path, name, 'must be a standard resource type or fully qualified')]),
    ...(containerResources.has(name) || isExtended || isHuge
      ? []
      : [fieldError.invalid(path, name, 'must be a standard resource for containers')]),
    ...(amount < 0 ? [fieldError.invalid(path, shown(value), 'must be greater than or equal to 0')] : []),
    ...(isExtended && !Number.isInteger(amount) ? [fieldError.invalid(path, shown(value), 'must be an integer')] : []),
    ...(isHuge && !isMultiple(amount, name)
      ? [fieldError.invalid(path, shown(value), `${shown(value)} is not positive integer multiple of ${name}`)]
      : []),
  ];
}

function isMultiple(amount: number, name: string): boolean {
  const size = quantityToNumber(parseQuantity(name.slice(hugePages.length)));
  return amount > 0 && amount % size === 0;
}

function shown(value: unknown): string {
  return formatQuantity(parseQuantity(String(value)));
}
