import { cpus, totalmem } from 'node:os';
import { type Container, type Pod, parseQuantity, quantityToNumber } from '@castellan/machinery';
import { containerOf } from './pod-spec.js';

export interface ResourceField {
  readonly resource: string;
  readonly containerName?: string;
  readonly divisor?: string;
}

/**
 * A container's request or limit as a whole number of divisors, rounded up. What has no limit is told what the machine has.
 * Undefined for what no container has (`limits.colour`).
 */
export function resourceFieldValue(pod: Pod, field: ResourceField, own?: Container): string | undefined {
  const container = field.containerName === undefined ? own : containerOf(pod, field.containerName);
  const [list = '', ...rest] = field.resource.split('.');
  const name = rest.join('.');
  const machine = machineHas(name);
  if (container === undefined || machine === undefined || (list !== 'limits' && list !== 'requests')) return undefined;
  const quantity = container.resources?.[list]?.[name];
  const otherwise = list === 'limits' ? machine : 0;
  const amount = quantity === undefined ? otherwise : quantityToNumber(parseQuantity(quantity));
  const divisor = quantityToNumber(parseQuantity(field.divisor ?? '1'));
  // In thousandths, for parts of a core are no exact numbers.
  return String(Math.ceil(Math.round(amount * 1000) / Math.round((divisor === 0 ? 1 : divisor) * 1000)));
}

function machineHas(resource: string): number | undefined {
  if (resource === 'cpu') return cpus().length;
  if (resource === 'memory') return totalmem();
  return resource === 'ephemeral-storage' || resource.startsWith('hugepages-') ? 0 : undefined;
}
