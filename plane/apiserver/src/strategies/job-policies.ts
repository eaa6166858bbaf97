import { type FieldError, fieldError, qualifiedNameErrors } from '@castellan/machinery';
import { at, count, type JsonRecord, list, record, records, text } from '../json.js';
import { indexesOf } from './job-indexes.js';

const maxRules = 20;
const maxExitCodes = 255;
const maxIndexesLength = 64 * 1024;
const operators = ['In', 'NotIn'];
/** In the order of the alphabet, in which refusals list them. */
const actions = ['Count', 'FailIndex', 'FailJob', 'Ignore'];
const statuses = ['False', 'True', 'Unknown'];

/** What a job does when its pods fail. Source: KEP-3329. */
export function failurePolicyErrors(spec: JsonRecord, path: string): readonly FieldError[] {
  if (spec.podFailurePolicy === undefined) return [];
  const rules = records(record(spec.podFailurePolicy).rules);
  const own = `${path}.podFailurePolicy.rules`;
  const template = record(at(spec, 'template', 'spec'));
  const names = [...records(template.containers), ...records(template.initContainers)].map(({ name }) => name);
  return [
    ...(rules.length > maxRules ? [fieldError.tooMany(own, rules.length, maxRules)] : []),
    ...rules.flatMap((rule, index) => [
      ...actionErrors(rule.action, `${own}[${index}].action`, spec.backoffLimitPerIndex !== undefined),
      ...failureErrors(rule, `${own}[${index}]`, names),
    ]),
  ];
}

function required(words: readonly string[]): string {
  return `valid values: [${words.map((word) => JSON.stringify(word)).join(' ')}]`;
}

function actionErrors(value: unknown, path: string, countsByIndex: boolean): readonly FieldError[] {
  const action = text(value) ?? '';
  if (action === '') return [fieldError.required(path, required(actions))];
  if (action === 'FailIndex' && !countsByIndex) {
    return [fieldError.invalid(path, action, 'requires the backoffLimitPerIndex to be set')];
  }
  return actions.includes(action) ? [] : [fieldError.notSupported(path, action, actions)];
}

function failureErrors(rule: JsonRecord, path: string, names: readonly unknown[]): readonly FieldError[] {
  const conditions = records(rule.onPodConditions);
  const hasCodes = rule.onExitCodes !== undefined;
  const refused = (problem: string) => [fieldError.invalid(path, undefined, problem)];
  return [
    ...(hasCodes ? exitCodeErrors(record(rule.onExitCodes), `${path}.onExitCodes`, names) : []),
    ...conditionErrors(conditions, `${path}.onPodConditions`),
    ...(hasCodes && conditions.length > 0
      ? refused('specifying both OnExitCodes and OnPodConditions is not supported')
      : []),
    ...(!hasCodes && conditions.length === 0
      ? refused('specifying one of OnExitCodes and OnPodConditions is required')
      : []),
  ];
}

function conditionErrors(patterns: readonly JsonRecord[], path: string): readonly FieldError[] {
  return [
    ...(patterns.length > maxRules ? [fieldError.tooMany(path, patterns.length, maxRules)] : []),
    ...patterns.flatMap(({ type, status }, index) => {
      const name = text(type) ?? '';
      const value = text(status) ?? '';
      const own = `${path}[${index}]`;
      return [
        ...qualifiedNameErrors(name).map((problem) => fieldError.invalid(`${own}.type`, name, problem)),
        ...(value === '' ? [fieldError.required(`${own}.status`, required(statuses))] : []),
        ...(value === '' || statuses.includes(value)
          ? []
          : [fieldError.notSupported(`${own}.status`, value, statuses)]),
      ];
    }),
  ];
}

function exitCodeErrors(codes: JsonRecord, path: string, names: readonly unknown[]): readonly FieldError[] {
  const operator = text(codes.operator) ?? '';
  const values = list(codes.values).map((value) => count(value) ?? 0);
  const own = `${path}.values`;
  const name = codes.containerName;
  const isOrdered = values.every((value, index) => index === 0 || (values[index - 1] ?? 0) <= value);
  return [
    ...(operator === '' ? [fieldError.required(`${path}.operator`, required(operators))] : []),
    ...(operator === '' || operators.includes(operator)
      ? []
      : [fieldError.notSupported(`${path}.operator`, operator, operators)]),
    ...(name === undefined || names.includes(name)
      ? []
      : [
          fieldError.invalid(
            `${path}.containerName`,
            name,
            'must be one of the container or initContainer names in the pod template',
          ),
        ]),
    ...(values.length === 0 ? [fieldError.invalid(own, codes.values ?? null, 'at least one value is required')] : []),
    ...(values.length > maxExitCodes ? [fieldError.tooMany(own, values.length, maxExitCodes)] : []),
    ...values.flatMap((value, index) => [
      ...(operator === 'In' && value === 0
        ? [fieldError.invalid(`${own}[${index}]`, value, 'must not be 0 for the In operator')]
        : []),
      ...(values.indexOf(value) < index ? [fieldError.duplicate(`${own}[${index}]`, value)] : []),
    ]),
    ...(isOrdered ? [] : [fieldError.invalid(own, values, 'must be ordered')]),
  ];
}

/** When an indexed job has succeeded before all of it has. Source: KEP-3998. */
export function successPolicyErrors(spec: JsonRecord, path: string): readonly FieldError[] {
  const rules = records(record(spec.successPolicy).rules);
  const own = `${path}.successPolicy.rules`;
  if (spec.successPolicy === undefined) return [];
  return [
    ...(rules.length === 0
      ? [fieldError.required(own, 'at least one rules must be specified when the successPolicy is specified')]
      : []),
    ...(rules.length > maxRules ? [fieldError.tooMany(own, rules.length, maxRules)] : []),
    ...rules.flatMap((rule, index) => successErrors(rule, count(spec.completions) ?? 0, `${own}[${index}]`)),
  ];
}

function successErrors(
  { succeededCount, succeededIndexes }: JsonRecord,
  completions: number,
  path: string,
): readonly FieldError[] {
  const own = `${path}.succeededCount`;
  const indexes = text(succeededIndexes);
  const parsed = indexes === undefined ? undefined : indexesOf(indexes, completions);
  const amount = count(succeededCount);
  const atMost = (limit: number, whose: string) =>
    fieldError.invalid(own, amount, `must be less than or equal to ${limit} (the number of ${whose})`);
  return [
    ...(amount === undefined && indexes === undefined
      ? [fieldError.required(path, 'at least one of succeededCount or succeededIndexes must be specified')]
      : []),
    ...(indexes !== undefined && indexes.length > maxIndexesLength
      ? [fieldError.tooLong(`${path}.succeededIndexes`, maxIndexesLength)]
      : []),
    ...(parsed !== undefined && 'problem' in parsed
      ? [fieldError.invalid(`${path}.succeededIndexes`, indexes, `error parsing succeededIndexes: ${parsed.problem}`)]
      : []),
    ...(amount !== undefined && amount < 0
      ? [fieldError.invalid(own, amount, 'must be greater than or equal to 0')]
      : []),
    ...(amount !== undefined && amount > completions ? [atMost(completions, 'specified completions')] : []),
    ...(amount !== undefined && parsed !== undefined && 'total' in parsed && amount > parsed.total
      ? [atMost(parsed.total, 'indexes in the specified succeededIndexes field')]
      : []),
  ];
}
