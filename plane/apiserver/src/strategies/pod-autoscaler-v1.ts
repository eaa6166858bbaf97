import { type ApiObject, count, type JsonRecord, list, record, records, without } from '../json.js';
import type { Strategy } from '../registry/strategy.js';
import { podAutoscalerStrategy } from './pod-autoscaler.js';

const prefix = 'autoscaling.alpha.kubernetes.io';
/** Where autoscaling/v1 keeps what only v2 has a field for, in v2's JSON. */
const kept = { metrics: `${prefix}/metrics`, behavior: `${prefix}/behavior` } as const;
const defaultUtilization = 80;

/** autoscaling/v1: one target for all, the CPU's. Stored as v2. */
export const podAutoscalerV1Strategy: Strategy = {
  withDefaults: (object) => {
    const spec = record(object.spec);
    const hasMetrics = object.metadata.annotations?.[kept.metrics] !== undefined;
    const target = hasMetrics ? {} : { targetCPUUtilizationPercentage: defaultUtilization };
    return { ...object, spec: { minReplicas: 1, ...target, ...spec } };
  },
  prepareForCreate: (object) => ({ ...object, status: { currentReplicas: 0, desiredReplicas: 0 } }),
  validate: (object, current) =>
    podAutoscalerStrategy.validate?.(podAutoscalerConversion.toStorage(object), current) ?? [],
};

export const podAutoscalerConversion = {
  fromStorage(object: ApiObject): ApiObject {
    const { metrics, behavior, ...spec } = record(object.spec);
    const { currentMetrics, conditions, ...status } = record(object.status);
    const target = records(metrics).find(isCpu);
    const others = records(metrics).filter((metric) => metric !== target);
    const annotations = {
      ...object.metadata.annotations,
      ...(others.length === 0 ? {} : { [kept.metrics]: JSON.stringify(others) }),
      ...(behavior === undefined ? {} : { [kept.behavior]: JSON.stringify(behavior) }),
    };
    const current = records(currentMetrics).find(
      ({ type, resource }) => type === 'Resource' && record(resource).name === 'cpu',
    );
    const utilization = record(record(current?.resource).current).averageUtilization;
    return {
      ...object,
      apiVersion: 'autoscaling/v1',
      metadata: { ...object.metadata, ...(Object.keys(annotations).length === 0 ? {} : { annotations }) },
      spec: { ...spec, ...(target === undefined ? {} : { targetCPUUtilizationPercentage: targetOf(target) }) },
      status: {
        currentReplicas: 0,
        desiredReplicas: 0,
        ...status,
        ...(utilization === undefined ? {} : { currentCPUUtilizationPercentage: utilization }),
      },
    };
  },

  toStorage(object: ApiObject): ApiObject {
    const { targetCPUUtilizationPercentage: target, ...spec } = record(object.spec);
    const { currentCPUUtilizationPercentage: current, currentReplicas, ...status } = record(object.status);
    const annotations = record(object.metadata.annotations);
    const others = list(parsed(annotations[kept.metrics]));
    const behavior = parsed(annotations[kept.behavior]);
    const plain = without(annotations, kept.metrics, kept.behavior);
    const { annotations: _, ...metadata } = object.metadata;
    const texts = Object.fromEntries(Object.entries(plain).map(([key, value]) => [key, String(value)]));
    const metrics = [
      ...others,
      ...(target === undefined ? [] : [cpuMetric({ target: { type: 'Utilization', averageUtilization: target } })]),
    ];
    return {
      ...object,
      apiVersion: 'autoscaling/v2',
      metadata: { ...metadata, ...(Object.keys(texts).length === 0 ? {} : { annotations: texts }) },
      spec: { ...spec, ...(metrics.length === 0 ? {} : { metrics }), ...(behavior === undefined ? {} : { behavior }) },
      status: {
        ...status,
        ...((count(currentReplicas) ?? 0) === 0 ? {} : { currentReplicas }),
        currentMetrics: current === undefined ? null : [cpuMetric({ current: { averageUtilization: current } })],
      },
    };
  },
} as const;

function cpuMetric(source: JsonRecord): JsonRecord {
  return { type: 'Resource', resource: { name: 'cpu', ...source } };
}

function isCpu({ type, resource }: JsonRecord): boolean {
  const { name, target } = record(resource);
  return type === 'Resource' && name === 'cpu' && record(target).averageUtilization !== undefined;
}

function targetOf({ resource }: JsonRecord): unknown {
  return record(record(resource).target).averageUtilization;
}

/** What an annotation says; undefined where it is absent or no JSON. */
function parsed(annotation: unknown): unknown {
  if (typeof annotation !== 'string') return undefined;
  try {
    return JSON.parse(annotation);
  } catch {
    return undefined;
  }
}
