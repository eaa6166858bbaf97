import type { KubernetesObject } from '../object.js';
import { isRecord } from '../value/record.js';
import { type FieldError, fieldError } from './field-error.js';

/** Where a kind with a scale keeps what autoscaling/v1 Scale shows of it, each the names of fields from the root on. */
export interface ReplicasPaths {
  readonly specReplicas: readonly string[];
  readonly statusReplicas: readonly string[];
  /** Where the selector stands as text. */
  readonly labelSelector?: readonly string[];
}

const mostReplicas = 2 ** 31 - 1;

/** Of an object with a scale: that the number of replicas that is asked for is one. */
export function scaleSpecErrors(object: KubernetesObject, { specReplicas }: ReplicasPaths): readonly FieldError[] {
  return replicasErrors(object, specReplicas);
}

/** Of an object with a scale: that its status has a number of replicas, and a selector that is text. */
export function scaleStatusErrors(object: KubernetesObject, paths: ReplicasPaths): readonly FieldError[] {
  const { statusReplicas, labelSelector } = paths;
  const selected = labelSelector === undefined ? undefined : read(object, labelSelector, 'string');
  return [
    ...replicasErrors(object, statusReplicas),
    ...(labelSelector === undefined || selected?.problem === undefined
      ? []
      : [fieldError.invalid(shown(labelSelector), '', selected.problem)]),
  ];
}

function replicasErrors(object: KubernetesObject, path: readonly string[]): readonly FieldError[] {
  const { value, problem } = read(object, path, 'int64');
  const field = shown(path);
  if (problem !== undefined) return [fieldError.invalid(field, 0, problem)];
  if (typeof value !== 'number') return [];
  if (value < 0) return [fieldError.invalid(field, value, 'should be a non-negative integer')];
  if (value <= mostReplicas) return [];
  return [fieldError.invalid(field, value, `should be less than or equal to ${mostReplicas}`)];
}

/** The value at a path; what is wrong where it, or what leads to it, is of another type. */
function read(
  object: KubernetesObject,
  path: readonly string[],
  wanted: 'int64' | 'string',
): { readonly value?: unknown; readonly problem?: string } {
  let here: unknown = object;
  for (const [index, field] of path.entries()) {
    if (!isRecord(here)) return { problem: mismatch(path.slice(0, index), here, 'map[string]interface {}') };
    if (!Object.hasOwn(here, field)) return {};
    here = here[field];
  }
  const isWanted = wanted === 'string' ? typeof here === 'string' : Number.isInteger(here);
  return isWanted ? { value: here } : { problem: mismatch(path, here, wanted) };
}

function mismatch(path: readonly string[], value: unknown, wanted: string): string {
  const isPlain = typeof value !== 'object';
  return `${shown(path)} accessor error: ${isPlain ? String(value) : JSON.stringify(value)} is of the type ${goTypeOf(value)}, expected ${wanted}`;
}

function goTypeOf(value: unknown): string {
  if (Array.isArray(value)) return '[]interface {}';
  if (isRecord(value)) return 'map[string]interface {}';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64';
  if (typeof value === 'boolean') return 'bool';
  return value === null ? '<nil>' : 'string';
}

function shown(path: readonly string[]): string {
  return `.${path.join('.')}`;
}
