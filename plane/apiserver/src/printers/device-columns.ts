import { type ApiObject, at, list, text } from '../json.js';
import { age, nameOf } from './cells.js';
import { type Column, column } from './column.js';

const name = column('Name', nameOf, { format: 'name' });
const ageColumn = column('Age', age);

/** Columns of devices and of the claims on them. Source: kubectl's output for each kind. */
export const deviceColumns = {
  resourceclaims: [name, column('State', stateOf), ageColumn],
  resourceslices: [
    name,
    column('Node', (slice) => text(at(slice, 'spec', 'nodeName')) ?? ''),
    column('Driver', (slice) => text(at(slice, 'spec', 'driver')) ?? ''),
    column('Pool', (slice) => text(at(slice, 'spec', 'pool', 'name')) ?? ''),
    ageColumn,
  ],
} satisfies Readonly<Record<string, readonly Column[]>>;

function stateOf(claim: ApiObject): string {
  const isAllocated = at(claim, 'status', 'allocation') !== undefined;
  const isReserved = isAllocated && list(at(claim, 'status', 'reservedFor')).length > 0;
  const states = [
    ...(claim.metadata.deletionTimestamp === undefined ? [] : ['deleted']),
    ...(isAllocated ? ['allocated'] : []),
    ...(isReserved ? ['reserved'] : []),
  ];
  return states.length === 0 ? 'pending' : states.join(',');
}
