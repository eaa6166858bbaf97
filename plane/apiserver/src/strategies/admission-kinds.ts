import { dns1035LabelErrors, dns1123SubdomainErrors, type FieldError, fieldError } from '@castellan/machinery';
import { type ApiObject, type JsonRecord, list, record, records, text } from '../json.js';
import type { Strategy } from '../registry/strategy.js';
import { conditionNameErrors, matchErrors, matchResourcesErrors, oneOf, ruleErrors } from './admission-rules.js';
import { webhookClientErrors } from './webhook-client.js';

const failurePolicies = ['Fail', 'Ignore'];
const sideEffects = ['None', 'NoneOnDryRun'];
const actions = ['Audit', 'Deny', 'Warn'];
const reinvocations = ['IfNeeded', 'Never'];
const reviewVersions = ['v1', 'v1beta1'];
const notFoundActions = ['Allow', 'Deny'];

/** Mutating and validating webhooks differ in `extra`: what only one of them has. */
export function webhookConfigurationStrategy(extra: JsonRecord): Strategy {
  const withWebhookDefaults = (webhook: JsonRecord): JsonRecord => ({
    failurePolicy: 'Fail',
    matchPolicy: 'Equivalent',
    namespaceSelector: {},
    objectSelector: {},
    timeoutSeconds: 10,
    ...extra,
    ...webhook,
    ...(webhook.rules === undefined ? {} : { rules: records(webhook.rules).map(withScope) }),
    clientConfig: withPort(record(webhook.clientConfig)),
  });
  return {
    withDefaults: (object) =>
      object.webhooks === undefined
        ? object
        : { ...object, webhooks: records(object.webhooks).map(withWebhookDefaults) },
    validate: webhookErrors,
  };
}

function withScope(rule: JsonRecord): JsonRecord {
  return { scope: '*', ...rule };
}

function withPort(config: JsonRecord): JsonRecord {
  return config.service === undefined ? config : { ...config, service: { port: 443, ...record(config.service) } };
}

function webhookErrors(object: ApiObject): readonly FieldError[] {
  const webhooks = records(object.webhooks);
  const names = webhooks.map(({ name }) => text(name) ?? '');
  return webhooks.flatMap((webhook, index) => {
    const path = `webhooks[${index}]`;
    const name = names[index] ?? '';
    const timeout = Number(webhook.timeoutSeconds);
    return [
      ...fullNameErrors(name, `${path}.name`),
      ...records(webhook.rules).flatMap((rule, each) => ruleErrors(rule, `${path}.rules[${each}]`)),
      ...oneOf(`${path}.failurePolicy`, webhook.failurePolicy, failurePolicies),
      ...(webhook.sideEffects === undefined
        ? [fieldError.required(`${path}.sideEffects`, `must specify one of ${sideEffects.join(', ')}`)]
        : oneOf(`${path}.sideEffects`, webhook.sideEffects, sideEffects)),
      ...(timeout < 1 || timeout > 30
        ? [fieldError.invalid(`${path}.timeoutSeconds`, timeout, 'the timeout value must be between 1 and 30 seconds')]
        : []),
      ...matchErrors(webhook, path),
      ...(webhook.reinvocationPolicy === undefined
        ? []
        : oneOf(`${path}.reinvocationPolicy`, webhook.reinvocationPolicy, reinvocations)),
      ...webhookClientErrors(webhook.clientConfig, `${path}.clientConfig`),
      ...conditionNameErrors(webhook, path),
      ...reviewVersionErrors(list(webhook.admissionReviewVersions).map(String), `${path}.admissionReviewVersions`),
      ...(name !== '' && names.indexOf(name) < index ? [fieldError.duplicate(`${path}.name`, name)] : []),
    ];
  });
}

function fullNameErrors(name: string, path: string): readonly FieldError[] {
  if (name === '') return [fieldError.required(path)];
  const problems = dns1123SubdomainErrors(name);
  if (problems.length > 0) return [fieldError.invalid(path, name, problems.join(','))];
  if (name.split('.').length >= 3) return [];
  return [fieldError.invalid(path, name, 'should be a domain with at least three segments separated by dots')];
}

function reviewVersionErrors(versions: readonly string[], path: string): readonly FieldError[] {
  if (versions.length === 0) return [fieldError.required(path, `must specify one of ${reviewVersions.join(', ')}`)];
  const errors = versions.flatMap((version, index) => {
    const at = `${path}[${index}]`;
    if (versions.indexOf(version) < index) return [fieldError.invalid(at, version, 'duplicate version')];
    return dns1035LabelErrors(version).map((problem) => fieldError.invalid(at, version, problem));
  });
  if (versions.some((version) => reviewVersions.includes(version))) return errors;
  return [...errors, fieldError.invalid(path, versions, `must include at least one of ${reviewVersions.join(', ')}`)];
}

function withConstraints(object: ApiObject, extra: JsonRecord): ApiObject {
  const spec = record(object.spec);
  const constraints = record(spec.matchConstraints);
  return {
    ...object,
    spec: {
      failurePolicy: 'Fail',
      ...extra,
      ...spec,
      ...(spec.matchConstraints === undefined ? {} : { matchConstraints: withMatchDefaults(constraints) }),
    },
  };
}

function withMatchDefaults(constraints: JsonRecord): JsonRecord {
  const rules = (field: string) =>
    constraints[field] === undefined ? {} : { [field]: records(constraints[field]).map(withScope) };
  return {
    matchPolicy: 'Equivalent',
    namespaceSelector: {},
    objectSelector: {},
    ...constraints,
    ...rules('resourceRules'),
    ...rules('excludeResourceRules'),
  };
}

export const validatingPolicyStrategy: Strategy = {
  withDefaults: (policy) => withConstraints(policy, {}),
  prepareForCreate: (policy) => ({ ...policy, status: {} }),
  validate: (policy) => {
    const spec = record(policy.spec);
    const isEmpty = list(spec.validations).length === 0 && list(spec.auditAnnotations).length === 0;
    const atLeastOne = 'validations or auditAnnotations must contain at least one item';
    return [
      ...oneOf('spec.failurePolicy', spec.failurePolicy, failurePolicies),
      ...(spec.paramKind == null ? [] : paramKindErrors(record(spec.paramKind))),
      ...constraintErrors(spec),
      ...conditionNameErrors(spec, 'spec'),
      ...(isEmpty
        ? ['validations', 'auditAnnotations'].map((field) => fieldError.required(`spec.${field}`, atLeastOne))
        : []),
    ];
  },
};

function constraintErrors({ matchConstraints }: JsonRecord): readonly FieldError[] {
  const path = 'spec.matchConstraints';
  if (matchConstraints === undefined) return [fieldError.required(path)];
  return [
    ...matchResourcesErrors(matchConstraints, path),
    ...(list(record(matchConstraints).resourceRules).length === 0
      ? [fieldError.required(`${path}.resourceRules`)]
      : []),
  ];
}

function paramKindErrors({ apiVersion, kind }: JsonRecord): readonly FieldError[] {
  return [
    ...((text(apiVersion) ?? '') === '' ? [fieldError.required('spec.paramKind.apiVersion')] : []),
    ...((text(kind) ?? '') === '' ? [fieldError.required('spec.paramKind.kind')] : []),
  ];
}

export const mutatingPolicyStrategy: Strategy = {
  withDefaults: (policy) => withConstraints(policy, {}),
  validate: (policy) => {
    const spec = record(policy.spec);
    const { reinvocationPolicy } = spec;
    return [
      ...oneOf('spec.failurePolicy', spec.failurePolicy, failurePolicies),
      ...(spec.paramKind == null ? [] : paramKindErrors(record(spec.paramKind))),
      ...constraintErrors(spec),
      ...operationErrors(spec.matchConstraints, 'spec.matchConstraints'),
      ...conditionNameErrors(spec, 'spec'),
      ...(list(spec.mutations).length === 0
        ? [fieldError.required('spec.mutations', 'mutations must contain at least one item')]
        : []),
      ...records(spec.mutations).flatMap((each, index) => mutationErrors(each, `spec.mutations[${index}]`)),
      ...((text(reinvocationPolicy) ?? '') === ''
        ? [fieldError.required('spec.reinvocationPolicy')]
        : oneOf('spec.reinvocationPolicy', reinvocationPolicy, reinvocations)),
    ];
  },
};

/** Nothing can be changed of what is deleted. */
function operationErrors(match: unknown, path: string): readonly FieldError[] {
  return records(record(match).resourceRules)
    .flatMap((rule) => list(rule.operations))
    .flatMap((operation) => oneOf(`${path}.resourceRules.operations`, operation, ['*', 'CONNECT', 'CREATE', 'UPDATE']));
}

const patchFields = { ApplyConfiguration: 'applyConfiguration', JSONPatch: 'jsonPatch' } as const;

/** A mutation has what its type says, and nothing else. The expressions are looked at where they are compiled. */
function mutationErrors(mutation: JsonRecord, path: string): readonly FieldError[] {
  const { patchType } = mutation;
  if ((text(patchType) ?? '') === '') return [fieldError.required(`${path}.patchType`)];
  if (patchType !== 'ApplyConfiguration' && patchType !== 'JSONPatch')
    return [fieldError.notSupported(`${path}.patchType`, patchType, Object.keys(patchFields))];
  const own = patchFields[patchType];
  const other = own === 'jsonPatch' ? 'applyConfiguration' : 'jsonPatch';
  return [
    ...(mutation[own] == null
      ? [fieldError.required(`${path}.${own}`, `must be specified when patchType is ${patchType}`)]
      : []),
    ...(mutation[other] == null
      ? []
      : [fieldError.invalid(`${path}.${other}`, `{${other}}`, `must not be specified when patchType is ${patchType}`)]),
  ];
}

export const policyBindingStrategy: Strategy = {
  withDefaults: (binding) => {
    const spec = record(binding.spec);
    if (spec.matchResources === undefined) return binding;
    return { ...binding, spec: { ...spec, matchResources: withMatchDefaults(record(spec.matchResources)) } };
  },
  validate: (binding) => {
    const { policyName, paramRef, matchResources, validationActions } = record(binding.spec);
    return [
      ...((text(policyName) ?? '') === '' ? [fieldError.required('spec.policyName')] : []),
      ...(paramRef == null ? [] : paramRefErrors(record(paramRef))),
      ...(matchResources === undefined ? [] : matchResourcesErrors(matchResources, 'spec.matchResources')),
      ...(binding.kind === 'ValidatingAdmissionPolicyBinding'
        ? actionErrors(list(validationActions))
        : operationErrors(matchResources, 'spec.matchResources')),
    ];
  },
};

function paramRefErrors({ name, selector, parameterNotFoundAction }: JsonRecord): readonly FieldError[] {
  const path = 'spec.paramRef';
  const isNamed = (text(name) ?? '') !== '';
  const isSelected = selector != null;
  const exclusive = 'name and selector are mutually exclusive';
  return [
    ...(isNamed && isSelected
      ? [fieldError.forbidden(`${path}.name`, exclusive), fieldError.forbidden(`${path}.selector`, exclusive)]
      : []),
    ...(!isNamed && !isSelected ? [fieldError.required(path, 'one of name or selector must be specified')] : []),
    ...(parameterNotFoundAction === undefined || parameterNotFoundAction === ''
      ? [fieldError.required(`${path}.parameterNotFoundAction`)]
      : oneOf(`${path}.parameterNotFoundAction`, parameterNotFoundAction, notFoundActions)),
  ];
}

function actionErrors(told: readonly unknown[]): readonly FieldError[] {
  const path = 'spec.validationActions';
  const repeated =
    'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)';
  return [
    ...told.flatMap((action, index) => [
      ...oneOf(`${path}[${index}]`, action, actions),
      ...(told.indexOf(action) < index ? [fieldError.duplicate(`${path}[${index}]`, action)] : []),
    ]),
    ...(told.includes('Deny') && told.includes('Warn') ? [fieldError.invalid(path, [...told].sort(), repeated)] : []),
    ...(told.length === 0 ? [fieldError.required(path, 'at least one validation action is required')] : []),
  ];
}
