import { type FieldError, fieldError } from '@castellan/machinery';
import { type ApiObject, type JsonRecord, list, record, records, text } from '../json.js';
import type { Strategy } from '../registry/strategy.js';

const failurePolicies = ['Fail', 'Ignore'];
const sideEffects = ['None', 'NoneOnDryRun'];
const actions = ['Audit', 'Deny', 'Warn'];

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
    const { url, service } = record(webhook.clientConfig);
    const timeout = Number(webhook.timeoutSeconds);
    return [
      ...(name === '' ? [fieldError.required(`${path}.name`)] : []),
      ...(name !== '' && name.split('.').length < 3
        ? [
            fieldError.invalid(
              `${path}.name`,
              name,
              'should be a domain with at least three segments separated by dots',
            ),
          ]
        : []),
      ...(names.indexOf(name) < index ? [fieldError.duplicate(`${path}.name`, name)] : []),
      ...(list(webhook.admissionReviewVersions).length === 0
        ? [fieldError.required(`${path}.admissionReviewVersions`, 'must specify one of v1, v1beta1')]
        : []),
      ...oneOf(`${path}.failurePolicy`, webhook.failurePolicy, failurePolicies),
      ...(webhook.sideEffects === undefined
        ? [fieldError.required(`${path}.sideEffects`, `must specify one of ${sideEffects.join(', ')}`)]
        : oneOf(`${path}.sideEffects`, webhook.sideEffects, sideEffects)),
      ...(timeout < 1 || timeout > 30
        ? [fieldError.invalid(`${path}.timeoutSeconds`, timeout, 'the timeout value must be between 1 and 30 seconds')]
        : []),
      ...((url === undefined) === (service === undefined)
        ? [fieldError.required(`${path}.clientConfig`, 'exactly one of url or service is required')]
        : []),
    ];
  });
}

function oneOf(path: string, value: unknown, supported: readonly string[]): readonly FieldError[] {
  return supported.includes(String(value)) ? [] : [fieldError.notSupported(path, value, supported)];
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
    return [
      ...oneOf('spec.failurePolicy', spec.failurePolicy, failurePolicies),
      ...(spec.matchConstraints === undefined ? [fieldError.required('spec.matchConstraints')] : []),
      ...(isEmpty
        ? [fieldError.required('spec.validations', 'validations or auditAnnotations must be specified')]
        : []),
    ];
  },
};

export const mutatingPolicyStrategy: Strategy = {
  withDefaults: (policy) => withConstraints(policy, { reinvocationPolicy: 'Never' }),
  validate: (policy) => {
    const spec = record(policy.spec);
    return [
      ...oneOf('spec.failurePolicy', spec.failurePolicy, failurePolicies),
      ...(spec.matchConstraints === undefined ? [fieldError.required('spec.matchConstraints')] : []),
      ...(list(spec.mutations).length === 0
        ? [fieldError.required('spec.mutations', 'mutations must contain at least one item')]
        : []),
    ];
  },
};

export const policyBindingStrategy: Strategy = {
  withDefaults: (binding) => {
    const spec = record(binding.spec);
    if (spec.matchResources === undefined) return binding;
    return { ...binding, spec: { ...spec, matchResources: withMatchDefaults(record(spec.matchResources)) } };
  },
  validate: (binding) => {
    const { policyName, validationActions } = record(binding.spec);
    return [
      ...((text(policyName) ?? '') === '' ? [fieldError.required('spec.policyName')] : []),
      ...list(validationActions).flatMap((action, index) => oneOf(`spec.validationActions[${index}]`, action, actions)),
    ];
  },
};
