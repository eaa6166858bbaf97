import { deepEqual, type FieldError, fieldError } from '@castellan/machinery';
import { type ApiObject, at, type JsonRecord, record } from '../json.js';
import { templateErrors, withTemplate } from '../pods/template.js';
import { templateWarnings } from '../pods/template-warnings.js';
import type { Strategy } from '../registry/strategy.js';
import { selects } from './label-selector.js';
import { nonNegative, notUnlimited, rollingUpdateErrors } from './rollout-rules.js';
import { labelsMismatch, podErrors, selectionErrors, selectorIsFixed, withSpec, withStatusOf } from './selection.js';
import { statusRulesOf } from './workload-status.js';

/** Source of defaults and rules: the API reference of apps/v1 and what kube-apiserver answers. */
const quarter = '25%';

export const deploymentStrategy: Strategy = {
  warnings: templateWarnings(true, 'spec', 'template'),
  withDefaults: (object) =>
    withSpec(object, (spec) => {
      const { strategy: sent, ...rest } = spec;
      const strategy = { type: 'RollingUpdate', ...record(sent) };
      const rollingUpdate = { maxUnavailable: quarter, maxSurge: quarter, ...record(record(sent).rollingUpdate) };
      return withTemplate({
        replicas: 1,
        revisionHistoryLimit: 10,
        progressDeadlineSeconds: 600,
        ...rest,
        strategy: strategy.type === 'RollingUpdate' ? { ...strategy, rollingUpdate } : strategy,
      });
    }),
  prepareForCreate: withStatusOf({}),
  validate: (object) => {
    const { minReadySeconds, progressDeadlineSeconds, strategy } = record(object.spec);
    const deadline = Number(progressDeadlineSeconds ?? 0);
    return [
      ...nonNegative(object, ['spec', 'replicas']),
      ...selectionErrors(object, 'deployment'),
      ...rollingUpdateErrors(record(strategy), 'spec.strategy', ['Recreate', 'RollingUpdate']),
      ...notUnlimited(record(strategy), 'spec.strategy'),
      ...nonNegative(object, ['spec', 'minReadySeconds']),
      ...nonNegative(object, ['spec', 'revisionHistoryLimit']),
      ...nonNegative(object, ['spec', 'progressDeadlineSeconds']),
      ...(progressDeadlineSeconds !== undefined && deadline <= Number(minReadySeconds ?? 0)
        ? [fieldError.invalid('spec.progressDeadlineSeconds', deadline, 'must be greater than minReadySeconds')]
        : []),
    ];
  },
  validateUpdate: selectorIsFixed,
  // Whoever reports a status has no say in the labels.
  prepareForStatus: (object, current) => withLabels(object, current.metadata.labels),
  validateStatus: statusRulesOf('Deployment'),
};

function withLabels(object: ApiObject, labels: ApiObject['metadata']['labels']): ApiObject {
  const { labels: _, ...metadata } = object.metadata;
  return { ...object, metadata: labels === undefined ? metadata : { ...metadata, labels } };
}

export const replicaSetStrategy: Strategy = {
  warnings: templateWarnings(true, 'spec', 'template'),
  withDefaults: (object) => withSpec(object, (spec) => withTemplate({ replicas: 1, ...spec })),
  prepareForCreate: withStatusOf({ replicas: 0 }),
  validate: (object) => [
    ...nonNegative(object, ['spec', 'replicas']),
    ...nonNegative(object, ['spec', 'minReadySeconds']),
    ...selectionErrors(object, 'replicaset'),
  ],
  validateUpdate: selectorIsFixed,
  validateStatus: statusRulesOf('ReplicaSet'),
};

export const replicationControllerStrategy: Strategy = {
  warnings: templateWarnings(false, 'spec', 'template'),
  withDefaults: (object) => {
    const labels = record(at(object, 'spec', 'template', 'metadata', 'labels'));
    const hasLabels = Object.keys(object.metadata.labels ?? {}).length > 0;
    const labelled = hasLabels || Object.keys(labels).length === 0 ? object : withMetadataLabels(object, labels);
    return withSpec(labelled, (spec) => {
      const hasSelector = Object.keys(record(spec.selector)).length > 0;
      const selector = hasSelector || Object.keys(labels).length === 0 ? {} : { selector: labels };
      const filled = { replicas: 1, ...spec, ...selector };
      return spec.template === undefined ? filled : withTemplate(filled);
    });
  },
  prepareForCreate: withStatusOf({ replicas: 0 }),
  validate: (object) => {
    const { selector, template } = record(object.spec);
    const labels = at(template, 'metadata', 'labels');
    const isSelected = Object.keys(record(selector)).length === 0 || selects({ matchLabels: selector }, record(labels));
    return [
      ...(Object.keys(record(selector)).length === 0 ? [fieldError.required('spec.selector')] : []),
      ...(template === undefined ? [fieldError.required('spec.template')] : []),
      ...(template === undefined || isSelected ? [] : [labelsMismatch(labels)]),
      ...(template === undefined ? [] : podErrors(object)),
      // Upstream looks at the numbers last: they are rules of the schema.
      ...nonNegative(object, ['spec', 'replicas']),
      ...nonNegative(object, ['spec', 'minReadySeconds']),
    ];
  },
  validateStatus: statusRulesOf('ReplicationController'),
};

function withMetadataLabels(object: ApiObject, labels: JsonRecord): ApiObject {
  const texts = Object.fromEntries(Object.entries(labels).map(([key, value]) => [key, String(value)]));
  return { ...object, metadata: { ...object.metadata, labels: texts } };
}

export const podTemplateStrategy: Strategy = {
  warnings: templateWarnings(false, 'template'),
  withDefaults: (object) => ({ ...object, template: withTemplate(object).template }),
  validate: (object) => templateErrors(object.template, 'template'),
};

export const controllerRevisionStrategy: Strategy = {
  withDefaults: (object) => (object.revision === undefined ? { ...object, revision: 0 } : object),
  validate: (object): readonly FieldError[] => [
    ...(object.data === undefined ? [fieldError.required('data', 'data is mandatory')] : []),
    ...nonNegative(object, ['revision']),
  ],
  validateUpdate: (object, current) =>
    deepEqual(object.data, current.data) ? [] : [fieldError.invalid('data', object.data, 'field is immutable')],
};
