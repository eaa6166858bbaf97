import { type FieldError, fieldError, formatQuantity, parseQuantity } from '@castellan/machinery';
import { at, count, type JsonRecord, record, records, text } from '../json.js';
import { containerResourceErrors } from '../pods/resource-rules.js';
import { labelNameErrors, oneOfOrUnset, pathSegmentErrors, requiredText } from '../pods/scalar-rules.js';

/**
 * The rules of autoscaling/v2. Source: the validation of autoscaling in kube-apiserver.
 *
 * What is scaled is named with its group, at least in new objects.
 */
export function scaleTargetErrors(target: JsonRecord, path: string, isNew: boolean): readonly FieldError[] {
  const version = text(target.apiVersion) ?? '';
  const problem =
    version.split('/').length > 2
      ? `unexpected GroupVersion string: ${version}`
      : version.includes('/')
        ? ''
        : 'apiVersion must specify API group';
  return [
    ...requiredText(target.kind, `${path}.kind`),
    ...pathSegmentErrors(target.kind, `${path}.kind`),
    ...requiredText(target.name, `${path}.name`),
    ...pathSegmentErrors(target.name, `${path}.name`),
    ...(isNew && problem !== '' ? [fieldError.invalid(`${path}.apiVersion`, version, problem)] : []),
  ];
}

type SourceRules = (source: JsonRecord, path: string, isNew: boolean) => readonly FieldError[];

/** What each type of metric says, in the order in which kube-apiserver looks. */
const sources: Readonly<Record<string, { readonly field: string; readonly problems: SourceRules }>> = {
  Object: { field: 'object', problems: objectErrors },
  External: { field: 'external', problems: externalErrors },
  Pods: { field: 'pods', problems: podsErrors },
  Resource: { field: 'resource', problems: resourceErrors },
  ContainerResource: { field: 'containerResource', problems: containerErrors },
};
const types = Object.keys(sources).sort();

export function metricErrors(metrics: readonly JsonRecord[], path: string, isNew: boolean): readonly FieldError[] {
  return metrics.flatMap((metric, index) => {
    const own = `${path}[${index}]`;
    const type = text(metric.type) ?? '';
    const unknown = Object.hasOwn(sources, type) ? [] : [fieldError.notSupported(`${own}.type`, type, types)];
    const present = Object.values(sources).filter(({ field }) => metric[field] !== undefined);
    const [first] = present;
    const expected = Object.hasOwn(sources, type) ? sources[type]?.field : undefined;
    const others = present.length === 1 ? [] : present.filter(({ field }) => field !== expected);
    return [
      ...(type === '' ? [fieldError.required(`${own}.type`, 'must specify a metric source type')] : []),
      ...unknown,
      ...(first?.problems(record(metric[first.field]), `${own}.${first.field}`, isNew) ?? []),
      ...(expected !== undefined && metric[expected] === undefined
        ? [fieldError.required(`${own}.${expected}`, 'must populate information for the given metric source')]
        : []),
      // Upstream says it twice.
      ...unknown,
      ...others.map(({ field }) =>
        fieldError.forbidden(`${own}.${field}`, 'must populate the given metric source only'),
      ),
    ];
  });
}

function objectErrors(source: JsonRecord, path: string, isNew: boolean): readonly FieldError[] {
  const { value, averageValue } = record(source.target);
  return [
    ...scaleTargetErrors(record(source.describedObject), `${path}.describedObject`, isNew),
    ...identifierErrors(record(source.metric), `${path}.metric`),
    ...targetErrors(record(source.target), `${path}.target`),
    ...(value === undefined && averageValue === undefined
      ? [fieldError.required(`${path}.target.averageValue`, 'must set either a target value or averageValue')]
      : []),
  ];
}

function externalErrors(source: JsonRecord, path: string): readonly FieldError[] {
  const { value, averageValue } = record(source.target);
  const either = 'must set either a target value for metric or a per-pod target';
  const both = 'may not set both a target value for metric and a per-pod target';
  return [
    ...identifierErrors(record(source.metric), `${path}.metric`),
    ...targetErrors(record(source.target), `${path}.target`),
    ...(value === undefined && averageValue === undefined
      ? [fieldError.required(`${path}.target.averageValue`, either)]
      : []),
    ...(value !== undefined && averageValue !== undefined ? [fieldError.forbidden(`${path}.target.value`, both)] : []),
  ];
}

function podsErrors(source: JsonRecord, path: string): readonly FieldError[] {
  return [
    ...identifierErrors(record(source.metric), `${path}.metric`),
    ...targetErrors(record(source.target), `${path}.target`),
    ...(at(source, 'target', 'averageValue') === undefined
      ? [fieldError.required(`${path}.target.averageValue`, 'must specify a positive target averageValue')]
      : []),
  ];
}

function resourceErrors(source: JsonRecord, path: string): readonly FieldError[] {
  return [
    ...((text(source.name) ?? '') === '' ? [fieldError.required(`${path}.name`, 'must specify a resource name')] : []),
    ...targetErrors(record(source.target), `${path}.target`),
    ...amountErrors(record(source.target), `${path}.target`),
  ];
}

function containerErrors(source: JsonRecord, path: string): readonly FieldError[] {
  const [name, container] = [text(source.name) ?? '', text(source.container) ?? ''];
  return [
    ...(name === ''
      ? [fieldError.required(`${path}.name`, 'must specify a resource name')]
      : containerResourceErrors(name, `${path}.name`)),
    ...(container === ''
      ? [fieldError.required(`${path}.container`, 'must specify a container')]
      : labelNameErrors(container, `${path}.container`)),
    ...targetErrors(record(source.target), `${path}.target`),
    ...amountErrors(record(source.target), `${path}.target`),
  ];
}

/** Of what pods use: an amount, or a part of what they ask for. */
function amountErrors({ averageUtilization, averageValue }: JsonRecord, path: string): readonly FieldError[] {
  const either = 'must set either a target raw value or a target utilization';
  const both = 'may not set both a target raw value and a target utilization';
  return [
    ...(averageUtilization === undefined && averageValue === undefined
      ? [fieldError.required(`${path}.averageUtilization`, either)]
      : []),
    ...(averageUtilization !== undefined && averageValue !== undefined
      ? [fieldError.forbidden(`${path}.averageValue`, both)]
      : []),
  ];
}

function identifierErrors({ name }: JsonRecord, path: string): readonly FieldError[] {
  if ((text(name) ?? '') === '') return [fieldError.required(`${path}.name`, 'must specify a metric name')];
  return pathSegmentErrors(name, `${path}.name`);
}

const targetTypes = ['Utilization', 'Value', 'AverageValue'];

function targetErrors(target: JsonRecord, path: string): readonly FieldError[] {
  const type = text(target.type) ?? '';
  const utilization = count(target.averageUtilization);
  const problem = 'must be either Utilization, Value, or AverageValue';
  return [
    ...(type === '' ? [fieldError.required(`${path}.type`, 'must specify a metric target type')] : []),
    ...(targetTypes.includes(type) ? [] : [fieldError.invalid(`${path}.type`, type, problem)]),
    ...positiveErrors(target.value, `${path}.value`),
    ...positiveErrors(target.averageValue, `${path}.averageValue`),
    ...(utilization !== undefined && utilization < 1
      ? [fieldError.invalid(`${path}.averageUtilization`, utilization, 'must be greater than 0')]
      : []),
  ];
}

function positiveErrors(amount: unknown, path: string): readonly FieldError[] {
  if (amount === undefined) return [];
  const quantity = parseQuantity(String(amount));
  return quantity.nano > 0n ? [] : [fieldError.invalid(path, formatQuantity(quantity), 'must be positive')];
}

export function behaviorErrors({ scaleUp, scaleDown }: JsonRecord, path: string): readonly FieldError[] {
  return [
    ...(scaleUp === undefined ? [] : ruleErrors(record(scaleUp), `${path}.scaleUp`)),
    ...(scaleDown === undefined ? [] : ruleErrors(record(scaleDown), `${path}.scaleDown`)),
  ];
}

/** In seconds. */
const longestWindow = 3600;
const longestPeriod = 1800;
const selectPolicies = ['Disabled', 'Max', 'Min'];
const policyTypes = ['Percent', 'Pods'];

function ruleErrors(rules: JsonRecord, path: string): readonly FieldError[] {
  const window = count(rules.stabilizationWindowSeconds) ?? 0;
  const tolerance = text(rules.tolerance);
  const policies = records(rules.policies);
  const invalid = (field: string, value: unknown, problem: string) =>
    fieldError.invalid(`${path}.${field}`, value, problem);
  return [
    ...(window < 0 ? [invalid('stabilizationWindowSeconds', window, 'must be greater than or equal to zero')] : []),
    ...(window > longestWindow
      ? [invalid('stabilizationWindowSeconds', window, `must be less than or equal to ${longestWindow}`)]
      : []),
    ...oneOfOrUnset(rules.selectPolicy, selectPolicies, `${path}.selectPolicy`),
    ...(policies.length === 0 ? [fieldError.required(`${path}.policies`, 'must specify at least one Policy')] : []),
    ...policies.flatMap((policy, index) => policyErrors(policy, `${path}.policies[${index}]`)),
    ...(tolerance !== undefined && parseQuantity(tolerance).nano < 0n
      ? [invalid('tolerance', tolerance, 'must be greater than or equal to 0')]
      : []),
  ];
}

function policyErrors(policy: JsonRecord, path: string): readonly FieldError[] {
  const [value, period] = [count(policy.value) ?? 0, count(policy.periodSeconds) ?? 0];
  return [
    ...oneOfOrUnset(policy.type ?? '', policyTypes, `${path}.type`),
    ...(value > 0 ? [] : [fieldError.invalid(`${path}.value`, value, 'must be greater than zero')]),
    ...(period > 0 ? [] : [fieldError.invalid(`${path}.periodSeconds`, period, 'must be greater than zero')]),
    ...(period > longestPeriod
      ? [fieldError.invalid(`${path}.periodSeconds`, period, `must be less than or equal to ${longestPeriod}`)]
      : []),
  ];
}
