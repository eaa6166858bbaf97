import {
  dns1123LabelErrors,
  dns1123SubdomainErrors,
  type FieldError,
  fieldError,
  labelValueErrors,
  qualifiedNameErrors,
} from '@castellan/machinery';
import { at, count, type JsonRecord, list, record, records, text } from '../json.js';
import { selectorErrors } from '../strategies/label-selector.js';
import { oneOfOrUnset } from './scalar-rules.js';

const tolerationOperators = ['Equal', 'Exists'];
const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];
const spreadActions = ['DoNotSchedule', 'ScheduleAnyway'];
const inclusionPolicies = ['Honor', 'Ignore'];

const required = 'requiredDuringSchedulingIgnoredDuringExecution';
const preferred = 'preferredDuringSchedulingIgnoredDuringExecution';
const existsText = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';

function nameErrors(name: string, path: string): readonly FieldError[] {
  return qualifiedNameErrors(name).map((problem) => fieldError.invalid(path, name, problem));
}

/** The rules of what a pod puts up with of its node. */
export function tolerationErrors(tolerations: unknown, path: string): readonly FieldError[] {
  return records(tolerations).flatMap((toleration, index) => {
    const own = `${path}[${index}]`;
    const { tolerationSeconds } = toleration;
    const key = text(toleration.key) ?? '';
    const operator = text(toleration.operator) ?? '';
    const effect = text(toleration.effect) ?? '';
    return [
      ...(key === '' ? [] : nameErrors(key, `${own}.key`)),
      ...(key === '' && operator !== 'Exists' ? [fieldError.invalid(`${own}.operator`, operator, existsText)] : []),
      ...(tolerationSeconds !== undefined && effect !== 'NoExecute'
        ? [fieldError.invalid(`${own}.effect`, effect, "effect must be 'NoExecute' when `tolerationSeconds` is set")]
        : []),
      ...toleratedValueErrors(operator, text(toleration.value) ?? '', `${own}.operator`),
      ...(effect === '' || effects.includes(effect) ? [] : [fieldError.notSupported(`${own}.effect`, effect, effects)]),
    ];
  });
}

function toleratedValueErrors(operator: string, value: string, path: string): readonly FieldError[] {
  switch (operator) {
    case '':
    case 'Equal': {
      const problems = labelValueErrors(value);
      return problems.length === 0 ? [] : [fieldError.invalid(path, value, problems.join(';'))];
    }
    case 'Exists':
      return value === '' ? [] : [fieldError.invalid(path, value, "value must be empty when `operator` is 'Exists'")];
    default:
      return [fieldError.notSupported(path, operator, tolerationOperators)];
  }
}

/** The rules of where a pod wants to be, by nodes and by other pods. */
export function affinityErrors(affinity: unknown, path: string): readonly FieldError[] {
  return [
    ...nodeAffinityErrors(record(at(affinity, 'nodeAffinity')), `${path}.nodeAffinity`),
    ...['podAffinity', 'podAntiAffinity'].flatMap((kind) =>
      podAffinityErrors(record(at(affinity, kind)), `${path}.${kind}`),
    ),
  ];
}

/** The rules of what must hold of a node. */
export function nodeSelectorErrors({ nodeSelectorTerms }: JsonRecord, path: string): readonly FieldError[] {
  const terms = records(nodeSelectorTerms);
  const place = `${path}.nodeSelectorTerms`;
  if (terms.length === 0) return [fieldError.required(place, 'must have at least one node selector term')];
  return terms.flatMap((term, index) => termErrors(term, `${place}[${index}]`, true));
}

function nodeAffinityErrors(affinity: JsonRecord, path: string): readonly FieldError[] {
  return [
    ...(affinity[required] === undefined ? [] : nodeSelectorErrors(record(affinity[required]), `${path}.${required}`)),
    ...records(affinity[preferred]).flatMap((each, index) => [
      ...weightErrors(each, `${path}.${preferred}[${index}]`),
      // What is only preferred may name a value that no label can have.
      ...termErrors(record(each.preference), `${path}.${preferred}[${index}].preference`, false),
    ]),
  ];
}

function termErrors(term: JsonRecord, path: string, areValuesLabels: boolean): readonly FieldError[] {
  return [
    ...records(term.matchExpressions).flatMap((requirement, index) => {
      const own = `${path}.matchExpressions[${index}]`;
      return [
        ...operatorErrors(requirement, own),
        ...nameErrors(text(requirement.key) ?? '', `${own}.key`),
        ...(areValuesLabels ? valueErrors(requirement, own, labelValueErrors) : []),
      ];
    }),
    ...records(term.matchFields).flatMap((requirement, index) =>
      fieldRequirementErrors(requirement, `${path}.matchFields[${index}]`),
    ),
  ];
}

function valueErrors({ values }: JsonRecord, path: string, problemsOf: (value: string) => readonly string[]) {
  return list(values).flatMap((value, index) => {
    const own = text(value) ?? '';
    return problemsOf(own).map((problem) => fieldError.invalid(`${path}.values[${index}]`, own, problem));
  });
}

function operatorErrors({ operator, values }: JsonRecord, path: string): readonly FieldError[] {
  const amount = list(values).length;
  const place = `${path}.values`;
  switch (operator) {
    case 'In':
    case 'NotIn':
      return amount > 0 ? [] : [fieldError.required(place, "must be specified when `operator` is 'In' or 'NotIn'")];
    case 'Exists':
    case 'DoesNotExist':
      return amount === 0
        ? []
        : [fieldError.forbidden(place, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")];
    case 'Gt':
    case 'Lt':
      return amount === 1
        ? []
        : [fieldError.required(place, "must be specified single value when `operator` is 'Lt' or 'Gt'")];
    default:
      return [fieldError.invalid(`${path}.operator`, text(operator) ?? '', 'not a valid selector operator')];
  }
}

/** Of a node's fields only its name can be asked for. */
function fieldRequirementErrors(requirement: JsonRecord, path: string): readonly FieldError[] {
  const operator = text(requirement.operator) ?? '';
  const key = text(requirement.key) ?? '';
  const isKnown = operator === 'In' || operator === 'NotIn';
  const single = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
  return [
    ...(isKnown ? [] : [fieldError.invalid(`${path}.operator`, operator, 'not a valid selector operator')]),
    ...(isKnown && list(requirement.values).length !== 1 ? [fieldError.required(`${path}.values`, single)] : []),
    ...(key === 'metadata.name'
      ? valueErrors(requirement, path, dns1123SubdomainErrors)
      : [fieldError.invalid(`${path}.key`, key, 'not a valid field selector key')]),
  ];
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
    ...selectorErrors(term.namespaceSelector, `${path}.namespaceSelector`),
    ...list(term.namespaces).flatMap((namespace) => {
      const name = text(namespace) ?? '';
      return dns1123LabelErrors(name).map((problem) => fieldError.invalid(`${path}.namespace`, name, problem));
    }),
    ...labelKeyErrors(term, path),
    ...(key === '' ? [fieldError.required(`${path}.topologyKey`, 'can not be empty')] : []),
    ...nameErrors(key, `${path}.topologyKey`),
  ];
}

/** Labels whose values are to be those of the pod itself, or are not to be. */
function labelKeyErrors(term: JsonRecord, path: string): readonly FieldError[] {
  const same = list(term.matchLabelKeys);
  const other = list(term.mismatchLabelKeys);
  const needsSelector = 'must not be specified when labelSelector is not set';
  return [
    ...[
      { keys: same, field: 'matchLabelKeys' },
      { keys: other, field: 'mismatchLabelKeys' },
    ].flatMap(({ keys, field }) => {
      if (keys.length === 0) return [];
      if (term.labelSelector === undefined) return [fieldError.forbidden(`${path}.${field}`, needsSelector)];
      return keys.flatMap((key, index) => nameErrors(text(key) ?? '', `${path}.${field}[${index}]`));
    }),
    ...same.flatMap((key, index) =>
      other.includes(key)
        ? [
            fieldError.invalid(
              `${path}.matchLabelKeys[${index}]`,
              key,
              'exists in both matchLabelKeys and mismatchLabelKeys',
            ),
          ]
        : [],
    ),
  ];
}

/** The rules of how pods spread over the nodes. */
export function spreadErrors(constraints: unknown, path: string): readonly FieldError[] {
  const all = records(constraints);
  return all.flatMap((constraint, index) => {
    const own = `${path}[${index}]`;
    const skew = count(constraint.maxSkew) ?? 0;
    const key = text(constraint.topologyKey) ?? '';
    const action = text(constraint.whenUnsatisfiable) ?? '';
    const isRepeated = all
      .slice(index + 1)
      .some((other) => other.topologyKey === constraint.topologyKey && other.whenUnsatisfiable === action);
    return [
      ...(skew > 0 ? [] : [fieldError.invalid(`${own}.maxSkew`, skew, 'must be greater than zero')]),
      ...(key === '' ? [fieldError.required(`${own}.topologyKey`, 'can not be empty')] : []),
      ...(spreadActions.includes(action)
        ? []
        : [fieldError.notSupported(`${own}.whenUnsatisfiable`, action, spreadActions)]),
      ...(isRepeated ? [fieldError.duplicate(`${own}.{topologyKey, whenUnsatisfiable}`, `{${key}, ${action}}`)] : []),
      ...domainErrors(constraint.minDomains, action, `${own}.minDomains`),
      ...oneOfOrUnset(constraint.nodeAffinityPolicy, inclusionPolicies, `${own}.nodeAffinityPolicy`),
      ...oneOfOrUnset(constraint.nodeTaintsPolicy, inclusionPolicies, `${own}.nodeTaintsPolicy`),
      ...spreadKeyErrors(constraint, `${own}.matchLabelKeys`),
      ...selectorErrors(constraint.labelSelector, `${own}.labelSelector`),
    ];
  });
}

function domainErrors(minDomains: unknown, action: string, path: string): readonly FieldError[] {
  if (typeof minDomains !== 'number') return [];
  const only = `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${action}`;
  return [
    ...(minDomains > 0 ? [] : [fieldError.invalid(path, minDomains, 'must be greater than zero')]),
    ...(action === 'DoNotSchedule' ? [] : [fieldError.invalid(path, minDomains, only)]),
  ];
}

function spreadKeyErrors({ matchLabelKeys, labelSelector }: JsonRecord, path: string): readonly FieldError[] {
  const keys = list(matchLabelKeys);
  if (keys.length === 0) return [];
  if (labelSelector === undefined) {
    return [fieldError.forbidden(path, 'must not be specified when labelSelector is not set')];
  }
  return keys.flatMap((key, index) => nameErrors(text(key) ?? '', `${path}[${index}]`));
}
