import { deepEqual, type FieldError, fieldError } from '@castellan/machinery';
import { at, type JsonRecord, list, record, records, text } from '../json.js';
import { countedResources, measuredResources, quantityErrors, resourceNameErrors } from '../pods/resource-rules.js';
import type { Strategy } from '../registry/strategy.js';

/** What each scope can limit, of the resources that quotas know. */
const pods: ReadonlySet<string> = new Set(['pods']);
const podAmounts: ReadonlySet<string> = new Set([
  ...pods,
  'cpu',
  'memory',
  'limits.cpu',
  'limits.memory',
  'requests.cpu',
  'requests.memory',
]);
const claims: ReadonlySet<string> = new Set(['persistentvolumeclaims', 'requests.storage']);
const scopes: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['BestEffort', pods],
  ['CrossNamespacePodAffinity', podAmounts],
  ['NotBestEffort', podAmounts],
  ['NotTerminating', podAmounts],
  ['PriorityClass', podAmounts],
  ['Terminating', podAmounts],
  ['VolumeAttributesClass', claims],
]);
const opposites = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
] as const;

export const resourceQuotaStrategy: Strategy = {
  prepareForCreate: (quota) => ({ ...quota, status: {} }),
  validate: ({ spec }) => {
    const { hard } = record(spec);
    return [
      ...Object.entries(record(hard)).flatMap(([name, value]) => hardErrors(name, value, `spec.hard[${name}]`)),
      ...scopeErrors(record(spec), 'spec.scopes'),
      ...selectorErrors(record(spec), 'spec.scopeSelector.matchExpressions'),
    ];
  },
  validateUpdate: (quota, current) => {
    const [next, old] = [quota, current].map(({ spec }) => list(at(spec, 'scopes')));
    const isSame = deepEqual([...new Set(next)].sort(), [...new Set(old)].sort());
    return isSame ? [] : [fieldError.invalid('spec.scopes', next, 'field is immutable')];
  },
};

function hardErrors(name: string, value: unknown, path: string): readonly FieldError[] {
  return [
    ...resourceNameErrors(name, path),
    ...(name.includes('/') || isKnown(name)
      ? []
      : [fieldError.invalid(path, name, 'must be a standard resource for quota')]),
    ...quantityErrors(name, value, path),
  ];
}

function isKnown(name: string): boolean {
  return countedResources.has(name) || measuredResources.has(name);
}

/** Scopes that are there, fit what is limited and do not exclude each other. */
function scopeErrors(spec: JsonRecord, path: string): readonly FieldError[] {
  const named = list(spec.scopes).map(String);
  const shown = spec.scopes;
  return [
    ...named.flatMap((scope) => [
      ...(scopes.has(scope) ? [] : [fieldError.invalid(path, shown, 'unsupported scope')]),
      ...unfit(scope, spec.hard).map(() => fieldError.invalid(path, shown, 'unsupported scope applied to resource')),
    ]),
    ...conflicts(named).map(() => fieldError.invalid(path, shown, 'conflicting scopes')),
  ];
}

/** The limited resources that a scope says nothing about. */
function unfit(scope: string, hard: unknown): readonly string[] {
  const fit = scopes.get(scope);
  return fit === undefined ? [] : Object.keys(record(hard)).filter((name) => isKnown(name) && !fit.has(name));
}

function conflicts(named: readonly string[]): readonly unknown[] {
  return opposites.filter((pair) => pair.every((scope) => named.includes(scope)));
}

const existsText =
  "must be 'Exist' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity";
const noValuesText = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector";
const someValuesText = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector";
/** Scopes that have values to choose from. */
const chosenScopes = ['PriorityClass', 'VolumeAttributesClass'];

function selectorErrors(spec: JsonRecord, path: string): readonly FieldError[] {
  const requirements = records(at(spec, 'scopeSelector', 'matchExpressions'));
  const named = requirements.map(({ scopeName }) => text(scopeName) ?? '');
  return [
    ...requirements.flatMap(({ operator, values }, index) => {
      const scope = named[index] ?? '';
      const needsExists = scopes.has(scope) && !chosenScopes.includes(scope) && operator !== 'Exists';
      const unfitText = 'unsupported scope applied to resource';
      return [
        ...(scopes.has(scope) ? [] : [fieldError.invalid(`${path}.scopeName`, scope, 'unsupported scope')]),
        ...unfit(scope, spec.hard).map(() => fieldError.invalid(path, spec.scopeSelector, unfitText)),
        ...(needsExists ? [fieldError.invalid(`${path}.operator`, operator, existsText)] : []),
        ...operatorErrors(text(operator) ?? '', list(values), path),
      ];
    }),
    ...conflicts(named).map(() => fieldError.invalid(path, spec.scopes ?? null, 'conflicting scopes')),
  ];
}

function operatorErrors(operator: string, values: readonly unknown[], path: string): readonly FieldError[] {
  switch (operator) {
    case 'In':
    case 'NotIn':
      return values.length > 0 ? [] : [fieldError.required(`${path}.values`, someValuesText)];
    case 'Exists':
    case 'DoesNotExist':
      return values.length === 0 ? [] : [fieldError.invalid(`${path}.values`, values, noValuesText)];
    default:
      return [fieldError.invalid(`${path}.operator`, operator, 'not a valid selector operator')];
  }
}
