import { type FieldError, fieldError } from '@castellan/machinery';
import { type ApiObject, at, count, type JsonRecord, list, record, records } from '../json.js';
import { notNegative } from '../pods/scalar-rules.js';
import type { Strategy } from '../registry/strategy.js';
import { behaviorErrors, metricErrors, scaleTargetErrors } from './pod-autoscaler-rules.js';

const scaleUp = {
  stabilizationWindowSeconds: 0,
  selectPolicy: 'Max',
  policies: [
    { type: 'Pods', value: 4, periodSeconds: 15 },
    { type: 'Percent', value: 100, periodSeconds: 15 },
  ],
};
const scaleDown = { selectPolicy: 'Max', policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }] };
const cpuUtilization = {
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } },
};

export const podAutoscalerStrategy: Strategy = {
  withDefaults: (object) => {
    const spec = record(object.spec);
    const hasMetrics = list(spec.metrics).length > 0;
    return {
      ...object,
      spec: {
        minReplicas: 1,
        ...spec,
        ...(hasMetrics ? {} : { metrics: [cpuUtilization] }),
        ...(spec.behavior === undefined ? {} : { behavior: withBehavior(record(spec.behavior)) }),
      },
    };
  },
  prepareForCreate: (object) => ({ ...object, status: { desiredReplicas: 0, currentMetrics: null } }),
  validate: (object, current) => [
    ...replicaErrors(object),
    ...scaleTargetErrors(record(at(object, 'spec', 'scaleTargetRef')), 'spec.scaleTargetRef', current === undefined),
    ...metricErrors(records(at(object, 'spec', 'metrics')), 'spec.metrics', current === undefined),
    ...behaviorErrors(record(at(object, 'spec', 'behavior')), 'spec.behavior'),
  ],
  validateStatus: ({ status }) =>
    ['currentReplicas', 'desiredReplicas'].flatMap((field) => notNegative(at(status, field), `status.${field}`)),
};

function withBehavior(behavior: JsonRecord): JsonRecord {
  return {
    scaleUp: { ...scaleUp, ...record(behavior.scaleUp) },
    scaleDown: { ...scaleDown, ...record(behavior.scaleDown) },
  };
}

function replicaErrors(object: ApiObject): readonly FieldError[] {
  const min = count(at(object, 'spec', 'minReplicas')) ?? 1;
  const max = count(at(object, 'spec', 'maxReplicas')) ?? 0;
  const path = 'spec.maxReplicas';
  return [
    ...(min < 1 ? [fieldError.invalid('spec.minReplicas', min, 'must be greater than or equal to 1')] : []),
    ...(max === 0 ? [fieldError.required(path, 'must be set and greater than 0')] : []),
    ...(max < 0 ? [fieldError.invalid(path, max, 'must be greater than or equal to 1')] : []),
    ...(max < min ? [fieldError.invalid(path, max, 'must be greater than or equal to `minReplicas`')] : []),
  ];
}
