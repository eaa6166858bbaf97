import { type FieldError, fieldError, qualifiedNameErrors } from '@castellan/machinery';
import { at, count, type JsonRecord, list, record, records, text } from '../json.js';
import { selectorErrors } from './label-selector.js';

const tolerationOperators = ['Equal', 'Exists'];
const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];
const nodeOperators = ['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt'];
const spreadActions = ['DoNotSchedule', 'ScheduleAnyway'];

const required = 'requiredDuringSchedulingIgnoredDuringExecution';
const preferred = 'preferredDuringSchedulingIgnoredDuringExecution';

/** The rules of everything that decides where a pod may run. */
export function schedulingErrors(spec: JsonRecord): readonly FieldError[] {
  return [
    ...Object.keys(record(spec.nodeSelector)).flatMap((key) => nameErrors(key, 'spec.nodeSelector')),
    ...records(spec.tolerations).flatMap((toleration, index) =>
      tolerationErrors(toleration, `spec.tolerations[${index}]`),
    ),
    ...nodeAffinityErrors(record(at(spec, 'affinity', 'nodeAffinity')), 'spec.affinity.nodeAffinity'),
    ...['podAffinity', 'podAntiAffinity'].flatMap((kind) =>
      podAffinityErrors(record(at(spec, 'affinity', kind)), `spec.affinity.${kind}`),
    ),
    ...records(spec.topologySpreadConstraints).flatMap((constraint, index) =>
      spreadErrors(constraint, `spec.topologySpreadConstraints[${index}]`),
    ),
    ...duplicateGates(records(spec.schedulingGates).map(({ name }) => text(name) ?? '')),
  ];
}

function nameErrors(name: string, path: string): readonly FieldError[] {
  return qualifiedNameErrors(name).map((problem) => fieldError.invalid(path, name, problem));
}

function tolerationErrors(toleration: JsonRecord, path: string): readonly FieldError[] {
  const { tolerationSeconds } = toleration;
  const key = text(toleration.key) ?? '';
  const operator = text(toleration.operator) || 'Equal';
  const value = text(toleration.value) ?? '';
  const effect = text(toleration.effect) ?? '';
  const needsExists = key === '' && operator !== 'Exists';
  return [
    ...(key === '' ? [] : nameErrors(key, `${path}.key`)),
    ...(needsExists
      ? [
          fieldError.invalid(
            `${path}.operator`,
            operator,
            'operator must be Exists when `key` is empty, which means "match all values and all keys"',
          ),
        ]
      : []),
    ...(tolerationSeconds !== undefined && effect !== 'NoExecute'
      ? [fieldError.invalid(`${path}.effect`, effect, "effect must be 'NoExecute' when `tolerationSeconds` is set")]
      : []),
    ...(operator === 'Exists' && value !== ''
      ? [fieldError.invalid(`${path}.operator`, value, "value must be empty when `operator` is 'Exists'")]
      : []),
    ...(tolerationOperators.includes(operator)
      ? []
      : [fieldError.notSupported(`${path}.operator`, operator, tolerationOperators)]),
    ...(effect === '' || effects.includes(effect) ? [] : [fieldError.notSupported(`${path}.effect`, effect, effects)]),
  ];
}

function nodeAffinityErrors(affinity: JsonRecord, path: string): readonly FieldError[] {
  const selector = affinity[required];
  const terms = records(record(selector).nodeSelectorTerms);
  const place = `${path}.${required}.nodeSelectorTerms`;
  return [
    ...(selector !== undefined && terms.length === 0
      ? [fieldError.required(place, 'must have at least one node selector term')]
      : []),
    ...terms.flatMap((term, index) => termErrors(term, `${place}[${index}]`)),
    ...records(affinity[preferred]).flatMap((each, index) => [
      ...weightErrors(each, `${path}.${preferred}[${index}]`),
      ...termErrors(record(each.preference), `${path}.${preferred}[${index}].preference`),
    ]),
  ];
}

function termErrors(term: JsonRecord, path: string): readonly FieldError[] {
  return records(term.matchExpressions).flatMap(({ key, operator, values }, index) => {
    const place = `${path}.matchExpressions[${index}]`;
    const name = text(operator) ?? '';
    const hasValues = list(values).length > 0;
    return [
      ...(name === 'In' || name === 'NotIn'
        ? hasValues
          ? []
          : [fieldError.required(`${place}.values`, "must be specified when `operator` is 'In' or 'NotIn'")]
        : []),
      ...(nodeOperators.includes(name)
        ? []
        : [fieldError.invalid(`${place}.operator`, name, 'not a valid selector operator')]),
      ...nameErrors(text(key) ?? '', `${place}.key`),
    ];
  });
}

function weightErrors({ weight }: JsonRecord, path: string): readonly FieldError[] {
  const value = count(weight) ?? 0;
  return value < 1 || value > 100 ? [fieldError.invalid(`${path}.weight`, value, 'must be in the range 1-100')] : [];
}

function podAffinityErrors(affinity: JsonRecord, path: string): readonly FieldError[] {
  return [
    ...records(affinity[required]).flatMap((term, index) => podTermErrors(term, `${path}.${required}[${index}]`)),
    ...records(affinity[preferred]).flatMap((each, index) => [
      ...weightErrors(each, `${path}.${preferred}[${index}]`),
      ...podTermErrors(record(each.podAffinityTerm), `${path}.${preferred}[${index}].podAffinityTerm`),
    ]),
  ];
}

function podTermErrors(term: JsonRecord, path: string): readonly FieldError[] {
  const key = text(term.topologyKey) ?? '';
  return [
    ...selectorErrors(term.labelSelector, `${path}.labelSelector`),
    ...(key === '' ? [fieldError.required(`${path}.topologyKey`, 'can not be empty')] : []),
    ...nameErrors(key, `${path}.topologyKey`),
  ];
}

function spreadErrors(constraint: JsonRecord, path: string): readonly FieldError[] {
  const skew = count(constraint.maxSkew) ?? 0;
  const key = text(constraint.topologyKey) ?? '';
  const action = text(constraint.whenUnsatisfiable) ?? '';
  return [
    ...(skew > 0 ? [] : [fieldError.invalid(`${path}.maxSkew`, skew, 'must be greater than zero')]),
    ...(key === '' ? [fieldError.required(`${path}.topologyKey`, 'can not be empty')] : []),
    ...(spreadActions.includes(action)
      ? []
      : [fieldError.notSupported(`${path}.whenUnsatisfiable`, action, spreadActions)]),
    ...selectorErrors(constraint.labelSelector, `${path}.labelSelector`),
  ];
}

function duplicateGates(names: readonly string[]): readonly FieldError[] {
  return names.flatMap((name, index) =>
    names.indexOf(name) < index ? [fieldError.duplicate(`spec.schedulingGates[${index}]`, name)] : [],
  );
}
