import { type FieldError, fieldError } from '@castellan/machinery';
import { count, type JsonRecord, text } from '../json.js';
import { domainPathErrors } from '../pods/scalar-rules.js';
import { nonNegative } from './rollout-rules.js';

const completionModes = ['NonIndexed', 'Indexed'];
const numbers = [
  'parallelism',
  'completions',
  'activeDeadlineSeconds',
  'backoffLimit',
  'ttlSecondsAfterFinished',
  'backoffLimitPerIndex',
  'maxFailedIndexes',
] as const;
const maxParallelism = 100_000;
const maxFailures = 100_000;
/** Beyond so many completions, failures by index are kept count of only within closer limits. */
const manyCompletions = 100_000;
const maxWithMany = 10_000;
const longestManager = 63;

/** The rules of how many pods a job has, and of how they are counted. Source: KEP-2214, KEP-3850. */
export function jobNumberErrors(spec: JsonRecord, path: string): readonly FieldError[] {
  const mode = text(spec.completionMode) ?? 'NonIndexed';
  const amount = (field: (typeof numbers)[number]) => count(spec[field]);
  const own = (field: string) => `${path}.${field}`;
  return [
    ...numbers.flatMap((field) => nonNegative(spec, [field]).map((error) => ({ ...error, field: own(field) }))),
    ...(amount('maxFailedIndexes') !== undefined && amount('backoffLimitPerIndex') === undefined
      ? [fieldError.required(own('backoffLimitPerIndex'), 'when maxFailedIndexes is specified')]
      : []),
    ...managerErrors(spec.managedBy, own('managedBy')),
    ...(completionModes.includes(mode) ? [] : [fieldError.notSupported(own('completionMode'), mode, completionModes)]),
    ...(mode === 'Indexed' ? indexedErrors(spec, path) : []),
    ...(mode === 'NonIndexed'
      ? (['backoffLimitPerIndex', 'maxFailedIndexes'] as const)
          .filter((field) => amount(field) !== undefined)
          .map((field) => fieldError.invalid(own(field), amount(field), 'requires indexed completion mode'))
      : []),
  ];
}

function indexedErrors(spec: JsonRecord, path: string): readonly FieldError[] {
  const [parallelism, completions] = [count(spec.parallelism) ?? 0, count(spec.completions)];
  const failures = count(spec.maxFailedIndexes);
  const atMost = (field: string, value: unknown, limit: string) =>
    fieldError.invalid(`${path}.${field}`, value, `must be less than or equal to ${limit}`);
  const hasMany = (completions ?? 0) > manyCompletions && spec.backoffLimitPerIndex !== undefined;
  const withMany = `${maxWithMany} when completions are above ${manyCompletions} and used with backoff limit per index`;
  return [
    ...(completions === undefined
      ? [fieldError.required(`${path}.completions`, 'when completion mode is Indexed')]
      : []),
    ...(parallelism > maxParallelism
      ? [atMost('parallelism', parallelism, `${maxParallelism} when completion mode is Indexed`)]
      : []),
    ...(completions !== undefined && failures !== undefined && failures > completions
      ? [atMost('maxFailedIndexes', failures, 'completions')]
      : []),
    ...(failures !== undefined && failures > maxFailures
      ? [atMost('maxFailedIndexes', failures, `${maxFailures}`)]
      : []),
    ...(hasMany && failures === undefined
      ? [
          fieldError.required(
            `${path}.maxFailedIndexes`,
            `must be specified when completions is above ${manyCompletions}`,
          ),
        ]
      : []),
    ...(hasMany && parallelism > maxWithMany ? [atMost('parallelism', parallelism, withMany)] : []),
    ...(hasMany && failures !== undefined && failures > maxWithMany
      ? [atMost('maxFailedIndexes', failures, withMany)]
      : []),
  ];
}

/** Another controller's name: a domain and a path. */
function managerErrors(value: unknown, path: string): readonly FieldError[] {
  if (value === undefined) return [];
  const manager = text(value) ?? '';
  return [
    ...(manager === '' ? [fieldError.required(path)] : domainPathErrors(manager, path)),
    ...(manager.length > longestManager ? [fieldError.tooLong(path, longestManager)] : []),
  ];
}
