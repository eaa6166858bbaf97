import { deepEqual, type FieldError, fieldError, ShownValue } from '@castellan/machinery';
import { type ApiObject, at, type JsonRecord, record, records, text, without } from '../json.js';
import { withTemplate } from '../pods/template.js';
import { templateWarnings } from '../pods/template-warnings.js';
import type { Strategy } from '../registry/strategy.js';
import { nonNegative, podAmountErrors } from './rollout-rules.js';
import { selectionErrors, withSpec, withStatusOf } from './selection.js';
import { statusRulesOf } from './workload-status.js';

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
      ...selectionErrors(object, 'statefulset', records(volumeClaimTemplates)),
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
