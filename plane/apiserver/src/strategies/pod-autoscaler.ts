import { type FieldError, fieldError } from '@castellan/machinery';
import { type ApiObject, at, count, type JsonRecord, list, record, records, text } from '../json.js';
import type { Strategy } from '../registry/strategy.js';

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

/** Where each type of metric says what it measures. */
const sources: Readonly<Record<string, string>> = {
  ContainerResource: 'containerResource',
  External: 'external',
  Object: 'object',
  Pods: 'pods',
  Resource: 'resource',
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
  validate: (object) => [...targetErrors(object), ...replicaErrors(object), ...metricErrors(object)],
};

function withBehavior(behavior: JsonRecord): JsonRecord {
  return {
    scaleUp: { ...scaleUp, ...record(behavior.scaleUp) },
    scaleDown: { ...scaleDown, ...record(behavior.scaleDown) },
  };
}

function targetErrors(object: ApiObject): readonly FieldError[] {
  const { kind, name, apiVersion } = record(at(object, 'spec', 'scaleTargetRef'));
  const path = 'spec.scaleTargetRef';
  const version = text(apiVersion) ?? '';
  return [
    ...((text(kind) ?? '') === '' ? [fieldError.required(`${path}.kind`)] : []),
    ...((text(name) ?? '') === '' ? [fieldError.required(`${path}.name`)] : []),
    ...(version === '' ? [fieldError.invalid(`${path}.apiVersion`, '', 'apiVersion must specify API group')] : []),
  ];
}

function replicaErrors(object: ApiObject): readonly FieldError[] {
  const min = count(at(object, 'spec', 'minReplicas')) ?? 1;
  const max = count(at(object, 'spec', 'maxReplicas')) ?? 0;
  return [
    ...(min < 1 ? [fieldError.invalid('spec.minReplicas', min, 'must be greater than or equal to 1')] : []),
    ...(max < 1 ? [fieldError.required('spec.maxReplicas', 'must be set and greater than 0')] : []),
    ...(max < min
      ? [fieldError.invalid('spec.maxReplicas', max, 'must be greater than or equal to `minReplicas`')]
      : []),
  ];
}

function metricErrors(object: ApiObject): readonly FieldError[] {
  return records(at(object, 'spec', 'metrics')).flatMap((metric, index) => {
    const path = `spec.metrics[${index}]`;
    const type = text(metric.type) ?? '';
    const source = Object.hasOwn(sources, type) ? sources[type] : undefined;
    if (type === '') return [fieldError.required(`${path}.type`, 'must specify a metric source type')];
    if (source === undefined) return [fieldError.notSupported(`${path}.type`, type, Object.keys(sources))];
    if (metric[source] !== undefined) return [];
    return [fieldError.required(`${path}.${source}`, 'must populate information for the given metric source')];
  });
}
