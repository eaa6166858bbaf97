import { type ApiObject, at, count } from '../json.js';
import { age, nameOf } from './cells.js';
import { type Column, column } from './column.js';

const desired = (scale: ApiObject) => count(at(scale, 'spec', 'replicas')) ?? 0;
const available = (scale: ApiObject) => count(at(scale, 'status', 'replicas')) ?? 0;

/** Columns of a Scale: what `kubectl get --subresource=scale` prints. Built-in and custom kinds describe them in different words. */
export const scaleColumns = {
  ofBuiltIn: [
    column('Name', nameOf),
    column('Desired', desired, {
      type: 'integer',
      description: 'replicas is the desired number of instances for the scaled object.',
    }),
    column('Available', available, {
      type: 'integer',
      description: 'replicas is the actual number of observed instances of the scaled object.',
    }),
    column('Age', age),
  ],
  ofCustom: [
    column('Name', nameOf, { format: 'name' }),
    column('Desired', desired, { type: 'integer', description: 'Number of desired replicas' }),
    column('Available', available, { type: 'integer', description: 'Number of actual replicas' }),
    column('Age', age, { type: 'date' }),
  ],
} satisfies Readonly<Record<string, readonly Column[]>>;
