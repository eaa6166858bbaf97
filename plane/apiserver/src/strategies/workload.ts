import { deepEqual, type FieldError, fieldError, ShownValue } from '@castellan/machinery';
import { type ApiObject, at, type JsonRecord, record, records, text, without } from '../json.js';
import { templateErrors, withTemplate } from '../pods/template.js';
import { templateWarnings } from '../pods/template-warnings.js';
import type { Strategy } from '../registry/strategy.js';
import { isEmptySelector, isReadable, selectorErrors, selects } from './label-selector.js';
import {
  nonNegative,
  notUnlimited,
  onlyRestartsAlways,
  podAmountErrors,
  rollingUpdateErrors,
} from './rollout-rules.js';
import { statusRulesOf } from './workload-status.js';

/** Source of defaults and rules: the API reference of apps/v1 and what kube-apiserver answers. */
const quarter = '25%';

function withSpec(object: ApiObject, change: (spec: JsonRecord) => JsonRecord): ApiObject {
  return { ...object, spec: change(record(object.spec)) };
}

function withStatusOf(status: JsonRecord): NonNullable<Strategy['prepareForCreate']> {
  return (object) => ({ ...object, status });
}

/** The selector is there, can be read, is not empty and selects what the template makes. */
function selectionErrors(object: ApiObject, kind: string): readonly FieldError[] {
  const { selector, template } = record(object.spec);
  const labels = at(template, 'metadata', 'labels');
  const isSelected = selects(selector, record(labels));
  return [
    ...(selector === undefined ? [fieldError.required('spec.selector')] : selectorErrors(selector, 'spec.selector')),
    ...(selector !== undefined && isEmptySelector(selector)
      ? [fieldError.invalid('spec.selector', selector, `empty selector is invalid for ${kind}`)]
      : []),
    ...(isReadable(selector) ? [] : [fieldError.invalid('spec.selector', selector, 'invalid label selector')]),
    ...(isSelected || !isReadable(selector) || (selector !== undefined && isEmptySelector(selector))
      ? []
      : [labelsMismatch(labels)]),
  ];
}

function labelsMismatch(labels: unknown): FieldError {
  return fieldError.invalid(
    'spec.template.metadata.labels',
    labels ?? null,
    '`selector` does not match template `labels`',
  );
}

function selectorIsFixed(object: ApiObject, current: ApiObject): readonly FieldError[] {
  const selector = at(object, 'spec', 'selector');
  if (deepEqual(selector, at(current, 'spec', 'selector'))) return [];
  return [fieldError.invalid('spec.selector', selector, 'field is immutable')];
}

function podErrors(object: ApiObject, claims: readonly JsonRecord[] = []): readonly FieldError[] {
  const template = at(object, 'spec', 'template');
  return [
    ...templateErrors(withClaimVolumes(record(template), claims), 'spec.template'),
    ...onlyRestartsAlways(template, 'spec.template'),
    ...(at(template, 'spec', 'activeDeadlineSeconds') === undefined
      ? []
      : [
          fieldError.forbidden(
            'spec.template.spec.activeDeadlineSeconds',
            `activeDeadlineSeconds in ${deadlineOwner(object)} is not Supported`,
          ),
        ]),
  ];
}

/** A Deployment's pods are those of its ReplicaSets, and so upstream says. */
function deadlineOwner({ kind }: ApiObject): string {
  return kind === 'Deployment' ? 'ReplicaSet' : (kind ?? '');
}

/** The template with a volume for each claim that pods of a StatefulSet get. */
function withClaimVolumes(template: JsonRecord, claims: readonly JsonRecord[]): JsonRecord {
  if (claims.length === 0) return template;
  const spec = record(template.spec);
  const volumes = records(spec.volumes);
  const names = claims
    .map(({ metadata }) => record(metadata).name)
    .filter((name) => !volumes.some((volume) => volume.name === name));
  return { ...template, spec: { ...spec, volumes: [...volumes, ...names.map((name) => ({ name, emptyDir: {} }))] } };
}

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
      ...podErrors(object),
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
    ...podErrors(object),
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
      return withTemplate({ replicas: 1, ...spec, ...(hasSelector ? {} : { selector: labels }) });
    });
  },
  prepareForCreate: withStatusOf({ replicas: 0 }),
  validate: (object) => {
    const { selector, template } = record(object.spec);
    const labels = at(template, 'metadata', 'labels');
    return [
      ...nonNegative(object, ['spec', 'replicas']),
      ...(Object.keys(record(selector)).length === 0 ? [fieldError.required('spec.selector')] : []),
      ...(selects({ matchLabels: selector }, record(labels)) ? [] : [labelsMismatch(labels)]),
      ...podErrors(object),
    ];
  },
  validateStatus: statusRulesOf('ReplicationController'),
};

function withMetadataLabels(object: ApiObject, labels: JsonRecord): ApiObject {
  const texts = Object.fromEntries(Object.entries(labels).map(([key, value]) => [key, String(value)]));
  return { ...object, metadata: { ...object.metadata, labels: texts } };
}

const templateGeneration = 'deprecated.daemonset.template.generation';

export const daemonSetStrategy: Strategy = {
  warnings: templateWarnings(false, 'spec', 'template'),
  withDefaults: (object) =>
    withSpec(withTemplateGeneration(object, sentGeneration(object)), (spec) => {
      const updateStrategy = { type: 'RollingUpdate', ...record(spec.updateStrategy) };
      const rollingUpdate = { maxUnavailable: 1, maxSurge: 0, ...record(record(spec.updateStrategy).rollingUpdate) };
      return withTemplate({
        revisionHistoryLimit: 10,
        ...spec,
        updateStrategy: updateStrategy.type === 'RollingUpdate' ? { ...updateStrategy, rollingUpdate } : updateStrategy,
      });
    }),
  prepareForCreate: (object) => ({
    ...withTemplateGeneration(object, 1),
    status: { currentNumberScheduled: 0, numberMisscheduled: 0, desiredNumberScheduled: 0, numberReady: 0 },
  }),
  prepareForUpdate: (object, current) => {
    const old = Number(current.metadata.annotations?.[templateGeneration] ?? 0);
    const isChanged = !deepEqual(at(object, 'spec', 'template'), at(current, 'spec', 'template'));
    return withTemplateGeneration(object, isChanged ? old + 1 : old);
  },
  validate: (object) => {
    const strategy = record(record(object.spec).updateStrategy);
    const { maxSurge, maxUnavailable } = record(strategy.rollingUpdate);
    const isBoth = isSomething(maxSurge) && isSomething(maxUnavailable);
    return [
      ...selectionErrors(object, 'daemonset'),
      ...podErrors(object),
      ...nonNegative(object, ['spec', 'minReadySeconds']),
      ...rollingUpdateErrors(strategy, 'spec.updateStrategy', ['RollingUpdate', 'OnDelete']),
      ...(isBoth
        ? [
            fieldError.invalid(
              'spec.updateStrategy.rollingUpdate.maxSurge',
              maxSurge,
              'may not be set when maxUnavailable is non-zero',
            ),
          ]
        : []),
      ...nonNegative(object, ['spec', 'revisionHistoryLimit']),
    ];
  },
  validateUpdate: selectorIsFixed,
  validateStatus: statusRulesOf('DaemonSet'),
};

function isSomething(amount: unknown): boolean {
  return amount !== undefined && amount !== 0 && amount !== '0%';
}

/** The annotation stands for a field that kube-apiserver alone has: what is no number reads as none. */
function sentGeneration({ metadata }: ApiObject): number {
  const sent = metadata.annotations?.[templateGeneration] ?? '';
  return /^-?\d+$/.test(sent) ? Number(sent) : 0;
}

function withTemplateGeneration(object: ApiObject, generation: number): ApiObject {
  const annotations = { ...object.metadata.annotations, [templateGeneration]: String(generation) };
  return { ...object, metadata: { ...object.metadata, annotations } };
}

const claimDefaults = { kind: 'PersistentVolumeClaim', apiVersion: 'v1' };

const setWarnings = templateWarnings(true, 'spec', 'template');

export const statefulSetStrategy: Strategy = {
  warnings: (object, current) => [
    ...setWarnings(object, current),
    ...(Number(at(object, 'spec', 'revisionHistoryLimit') ?? 0) < 0
      ? ['spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended']
      : []),
  ],
  withDefaults: (object) =>
    withSpec(object, (spec) => {
      const updateStrategy = { type: 'RollingUpdate', ...record(spec.updateStrategy) };
      const rollingUpdate = { partition: 0, ...record(record(spec.updateStrategy).rollingUpdate) };
      const retention = { whenDeleted: 'Retain', whenScaled: 'Retain' };
      return withTemplate({
        replicas: 1,
        serviceName: '',
        podManagementPolicy: 'OrderedReady',
        revisionHistoryLimit: 10,
        ...spec,
        persistentVolumeClaimRetentionPolicy: { ...retention, ...record(spec.persistentVolumeClaimRetentionPolicy) },
        updateStrategy: updateStrategy.type === 'RollingUpdate' ? { ...updateStrategy, rollingUpdate } : updateStrategy,
        ...(spec.volumeClaimTemplates === undefined
          ? {}
          : { volumeClaimTemplates: records(spec.volumeClaimTemplates).map(withClaimDefaults) }),
      });
    }),
  prepareForCreate: withStatusOf({ replicas: 0, availableReplicas: 0 }),
  validate: (object) => {
    const { podManagementPolicy, updateStrategy, persistentVolumeClaimRetentionPolicy, volumeClaimTemplates } = record(
      object.spec,
    );
    const policy = text(podManagementPolicy) ?? '';
    return [
      ...(podPolicies.includes(policy)
        ? []
        : [fieldError.invalid('spec.podManagementPolicy', policy, "must be 'OrderedReady' or 'Parallel'")]),
      ...setStrategyErrors(record(updateStrategy), 'spec.updateStrategy'),
      ...['whenDeleted', 'whenScaled'].flatMap((field) =>
        retentionErrors(
          record(persistentVolumeClaimRetentionPolicy)[field],
          `spec.persistentVolumeClaimRetentionPolicy.${field}`,
        ),
      ),
      ...nonNegative(object, ['spec', 'replicas']),
      ...nonNegative(object, ['spec', 'minReadySeconds']),
      ...nonNegative(object, ['spec', 'ordinals', 'start']),
      ...selectionErrors(object, 'statefulset'),
      ...podErrors(object, records(volumeClaimTemplates)),
    ];
  },
  validateUpdate: (object, current) =>
    deepEqual(fixedSet(object), fixedSet(current)) ? [] : [fieldError.forbidden('spec', fixedSetText)],
  validateStatus: statusRulesOf('StatefulSet'),
};

const podPolicies = ['OrderedReady', 'Parallel'];

function setStrategyErrors(strategy: JsonRecord, path: string): readonly FieldError[] {
  const { type, rollingUpdate } = strategy;
  const { partition, maxUnavailable } = record(rollingUpdate);
  const rollout = { Partition: partition ?? 0, MaxUnavailable: maxUnavailable ?? null };
  switch (type) {
    case 'OnDelete': {
      if (rollingUpdate === undefined) return [];
      const shown = new ShownValue(rollout);
      return [fieldError.invalid(`${path}.rollingUpdate`, shown, "only allowed for updateStrategy 'RollingUpdate'")];
    }
    case 'RollingUpdate':
      return [
        ...nonNegative(strategy, ['rollingUpdate', 'partition']).map((error) => ({
          ...error,
          field: `${path}.${error.field}`,
        })),
        ...podAmountErrors(maxUnavailable, `${path}.rollingUpdate.maxUnavailable`, true),
        ...(maxUnavailable === 0 ? [fieldError.invalid(`${path}.rollingUpdate.maxUnavailable`, 0, 'cannot be 0')] : []),
      ];
    default: {
      const shown = { Type: type ?? '', RollingUpdate: rollingUpdate === undefined ? null : rollout };
      const problem = "must be 'RollingUpdate' or 'OnDelete'";
      return [fieldError.invalid(path, new ShownValue(shown), problem)];
    }
  }
}

const retentions = ['Retain', 'Delete'];

function retentionErrors(value: unknown, path: string): readonly FieldError[] {
  const policy = text(value) ?? '';
  return retentions.includes(policy) ? [] : [fieldError.notSupported(path, policy, retentions)];
}

const mutableSetFields = [
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
];
const fixedSetText = `updates to statefulset spec for fields other than ${mutableSetFields
  .slice(0, -1)
  .map((field) => `'${field}'`)
  .join(', ')} and 'minReadySeconds' are forbidden`;

function fixedSet(object: ApiObject): JsonRecord {
  return without(record(object.spec), ...mutableSetFields);
}

function withClaimDefaults(claim: JsonRecord): JsonRecord {
  return {
    ...claimDefaults,
    ...claim,
    metadata: record(claim.metadata),
    spec: { ...record(claim.spec), volumeMode: record(claim.spec).volumeMode ?? 'Filesystem' },
    status: { phase: 'Pending', ...record(claim.status) },
  };
}

export const podTemplateStrategy: Strategy = {
  warnings: templateWarnings(false, 'template'),
  withDefaults: (object) => ({ ...object, template: withTemplate(object).template }),
  validate: (object) => templateErrors(object.template, 'template'),
};

export const controllerRevisionStrategy: Strategy = {
  withDefaults: (object) => (object.revision === undefined ? { ...object, revision: 0 } : object),
  validate: (object) => nonNegative(object, ['revision']),
  validateUpdate: (object, current) =>
    deepEqual(object.data, current.data) ? [] : [fieldError.invalid('data', object.data, 'field is immutable')],
};
