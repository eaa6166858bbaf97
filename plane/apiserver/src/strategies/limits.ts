import { type FieldError, fieldError, formatQuantity, parseQuantity, quantityToNumber } from '@castellan/machinery';
import { type ApiObject, at, type JsonRecord, list, record, records, text } from '../json.js';
import type { Strategy } from '../registry/strategy.js';

/** Whole numbers of things. */
const countedResources = new Set([
  'configmaps',
  'persistentvolumeclaims',
  'pods',
  'replicationcontrollers',
  'resourcequotas',
  'secrets',
  'services',
  'services.loadbalancers',
  'services.nodeports',
]);
const measuredResources = new Set([
  'cpu',
  'memory',
  'storage',
  'ephemeral-storage',
  'requests.cpu',
  'requests.memory',
  'requests.storage',
  'requests.ephemeral-storage',
  'limits.cpu',
  'limits.memory',
  'limits.ephemeral-storage',
]);
const quotaScopes = [
  'BestEffort',
  'CrossNamespacePodAffinity',
  'NotBestEffort',
  'NotTerminating',
  'PriorityClass',
  'Terminating',
  'VolumeAttributesClass',
];

export const resourceQuotaStrategy: Strategy = {
  prepareForCreate: (quota) => ({ ...quota, status: {} }),
  validate: (quota) => {
    const { hard, scopes } = record(quota.spec);
    const odd = list(scopes).filter((scope) => !quotaScopes.includes(String(scope)));
    return [
      ...Object.entries(record(hard)).flatMap(([name, value]) => hardErrors(name, value)),
      ...(odd.length === 0 ? [] : [fieldError.invalid('spec.scopes', scopes, 'unsupported scope')]),
    ];
  },
};

function hardErrors(name: string, value: unknown): readonly FieldError[] {
  const path = `spec.hard[${name}]`;
  const isKnown = countedResources.has(name) || measuredResources.has(name);
  const amount = amountOf(value);
  return [
    ...(isKnown || name.includes('/')
      ? []
      : [
          fieldError.invalid(path, name, 'must be a standard resource type or fully qualified'),
          fieldError.invalid(path, name, 'must be a standard resource for quota'),
        ]),
    ...(amount < 0 ? [fieldError.invalid(path, String(value), 'must be greater than or equal to 0')] : []),
    ...(countedResources.has(name) && !Number.isInteger(amount)
      ? [fieldError.invalid(path, formatQuantity(parseQuantity(String(value))), 'must be an integer')]
      : []),
  ];
}

function amountOf(value: unknown): number {
  return quantityToNumber(parseQuantity(String(value)));
}

export const limitRangeStrategy: Strategy = {
  withDefaults: (range) => {
    const spec = record(range.spec);
    return { ...range, spec: { ...spec, limits: records(spec.limits).map(withLimitDefaults) } };
  },
  validate: (range) => {
    const limits = records(at(range, 'spec', 'limits'));
    const types = limits.map(({ type }) => type);
    return limits.flatMap((limit, index) => {
      const path = `spec.limits[${index}]`;
      const isDuplicate = types.indexOf(limit.type) < index;
      return [
        ...((text(limit.type) ?? '') === '' ? [fieldError.required(`${path}.type`)] : []),
        ...(isDuplicate ? [fieldError.duplicate(`${path}.type`, limit.type)] : []),
        ...(isDuplicate ? [] : limitErrors(limit, path)),
      ];
    });
  },
};

/** A limit is the default where none is given, and what is asked for by default is the default limit, else the least. */
function withLimitDefaults(limit: JsonRecord): JsonRecord {
  if (limit.type !== 'Container') return limit;
  const preset = { ...record(limit.max), ...record(limit.default) };
  const request = { ...record(limit.min), ...preset, ...record(limit.defaultRequest) };
  return {
    ...limit,
    ...(Object.keys(preset).length === 0 ? {} : { default: preset }),
    ...(Object.keys(request).length === 0 ? {} : { defaultRequest: request }),
  };
}

function limitErrors(limit: JsonRecord, path: string): readonly FieldError[] {
  const { type } = limit;
  if (type === 'Pod') {
    return ['default', 'defaultRequest'].flatMap((field) =>
      Object.keys(record(limit[field])).length === 0
        ? []
        : [fieldError.forbidden(`${path}.${field}`, "may not be specified when `type` is 'Pod'")],
    );
  }
  const isUnbound = at(limit, 'min', 'storage') === undefined && at(limit, 'max', 'storage') === undefined;
  if (type === 'PersistentVolumeClaim' && isUnbound) {
    const problem = 'either minimum or maximum storage value is required, but neither was provided';
    return [fieldError.required(`${path}.limits`, problem)];
  }
  const fields = ['max', 'min', 'default', 'defaultRequest', 'maxLimitRequestRatio'];
  const names = new Set(fields.flatMap((field) => Object.keys(record(limit[field]))));
  return [...names].flatMap((name) => resourceErrors(limit, name, path));
}

function resourceErrors(limit: JsonRecord, name: string, path: string): readonly FieldError[] {
  const value = (field: string) => text(at(limit, field, name));
  const [min, max, preset, request] = [value('min'), value('max'), value('default'), value('defaultRequest')];
  const ratio = value('maxLimitRequestRatio');
  const above = (left: string | undefined, right: string | undefined): boolean =>
    left !== undefined && right !== undefined && amountOf(left) > amountOf(right);
  const problem = (field: string, shown: string | undefined, detail: string) =>
    fieldError.invalid(`${path}.${field}[${name}]`, shown, detail);
  return [
    ...(above(min, max) ? [problem('min', min, `min value ${min} is greater than max value ${max}`)] : []),
    ...(above(min, request)
      ? [problem('defaultRequest', request, `min value ${min} is greater than default request value ${request}`)]
      : []),
    ...(above(request, max)
      ? [problem('defaultRequest', request, `default request value ${request} is greater than max value ${max}`)]
      : []),
    ...(above(request, preset)
      ? [
          problem(
            'defaultRequest',
            request,
            `default request value ${request} is greater than default limit value ${preset}`,
          ),
        ]
      : []),
    ...(above(min, preset)
      ? [problem('default', min, `min value ${min} is greater than default value ${preset}`)]
      : []),
    ...(above(preset, max)
      ? [problem('default', max, `default value ${preset} is greater than max value ${max}`)]
      : []),
    ...(ratio !== undefined && amountOf(ratio) < 1
      ? [problem('maxLimitRequestRatio', canonicalRatio(ratio), `ratio ${canonicalRatio(ratio)} is less than 1`)]
      : []),
  ];
}

function canonicalRatio(ratio: string): string {
  return formatQuantity(parseQuantity(ratio));
}

const maxUserPriority = 1_000_000_000;
const systemPrefix = 'system-';
const systemClasses: Readonly<Record<string, number>> = {
  'system-cluster-critical': 2_000_000_000,
  'system-node-critical': 2_000_001_000,
};
const preemptionPolicies = ['PreemptLowerPriority', 'Never'];

export const priorityClassStrategy: Strategy = {
  withDefaults: (priority) => ({ preemptionPolicy: 'PreemptLowerPriority', value: 0, ...priority }),
  validate: (priority) => [...priorityErrors(priority)],
  validateUpdate: (priority, current) => [
    ...(priority.value === current.value ? [] : [fieldError.forbidden('value', 'may not be changed in an update.')]),
    ...(priority.preemptionPolicy === current.preemptionPolicy
      ? []
      : [fieldError.invalid('preemptionPolicy', priority.preemptionPolicy, 'field is immutable')]),
  ],
};

function priorityErrors(priority: ApiObject): readonly FieldError[] {
  const { name = '' } = priority.metadata;
  const value = Number(priority.value);
  const isSystem = name.startsWith(systemPrefix);
  const isKnown = Object.hasOwn(systemClasses, name) && systemClasses[name] === value;
  const reserved = `priority class names with '${systemPrefix}' prefix are reserved for system use only. error: ${name} is not a known system priority class`;
  return [
    ...(isSystem && !isKnown ? [fieldError.forbidden('metadata.name', reserved)] : []),
    ...(!isSystem && value > maxUserPriority
      ? [fieldError.forbidden('value', `maximum allowed value of a user defined priority is ${maxUserPriority}`)]
      : []),
    ...(preemptionPolicies.includes(String(priority.preemptionPolicy))
      ? []
      : [fieldError.notSupported('preemptionPolicy', priority.preemptionPolicy, preemptionPolicies)]),
  ];
}
