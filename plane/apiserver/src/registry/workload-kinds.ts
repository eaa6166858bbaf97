import { workloadColumns } from '../printers/workload-columns.js';
import { daemonSetStrategy } from '../strategies/daemon-set.js';
import { cronJobStrategy, jobStrategy } from '../strategies/job.js';
import { podAutoscalerStrategy } from '../strategies/pod-autoscaler.js';
import { podAutoscalerConversion, podAutoscalerV1Strategy } from '../strategies/pod-autoscaler-v1.js';
import { statefulSetStrategy } from '../strategies/stateful-set.js';
import {
  controllerRevisionStrategy,
  deploymentStrategy,
  podTemplateStrategy,
  replicaSetStrategy,
  replicationControllerStrategy,
} from '../strategies/workload.js';
import { define, statusSubresource } from './define.js';
import type { ResourceDefinition } from './resource.js';

const scaleSubresource = {
  name: 'scale',
  kind: 'Scale',
  group: 'autoscaling',
  version: 'v1',
  verbs: ['get', 'patch', 'update'],
} as const;

const replicas = { specReplicas: ['spec', 'replicas'], statusReplicas: ['status', 'replicas'] } as const;
const scaled = { ...replicas, selector: ['spec', 'selector'] } as const;

const workload = { version: 'v1', isNamespaced: true, categories: ['all'], hasGeneration: true } as const;
const apps = { ...workload, group: 'apps' } as const;
const batch = { ...workload, group: 'batch' } as const;
const autoscaler = {
  group: 'autoscaling',
  kind: 'HorizontalPodAutoscaler',
  plural: 'horizontalpodautoscalers',
  isNamespaced: true,
  shortNames: ['hpa'],
  categories: ['all'],
  subresources: [statusSubresource('HorizontalPodAutoscaler')],
  strategy: podAutoscalerStrategy,
  columns: workloadColumns.horizontalpodautoscalers,
} as const;

/** The kinds that make pods. */
export const workloadKinds: readonly ResourceDefinition[] = [
  define({
    ...apps,
    kind: 'Deployment',
    plural: 'deployments',
    shortNames: ['deploy'],
    subresources: [scaleSubresource, statusSubresource('Deployment')],
    scale: scaled,
    annotationsAreIntent: true,
    strategy: deploymentStrategy,
    columns: workloadColumns.deployments,
  }),
  define({
    ...apps,
    kind: 'ReplicaSet',
    plural: 'replicasets',
    shortNames: ['rs'],
    subresources: [scaleSubresource, statusSubresource('ReplicaSet')],
    scale: scaled,
    strategy: replicaSetStrategy,
    columns: workloadColumns.replicasets,
  }),
  define({
    ...apps,
    kind: 'StatefulSet',
    plural: 'statefulsets',
    shortNames: ['sts'],
    subresources: [scaleSubresource, statusSubresource('StatefulSet')],
    scale: scaled,
    strategy: statefulSetStrategy,
    columns: workloadColumns.statefulsets,
  }),
  define({
    ...apps,
    kind: 'DaemonSet',
    plural: 'daemonsets',
    shortNames: ['ds'],
    subresources: [statusSubresource('DaemonSet')],
    strategy: daemonSetStrategy,
    columns: workloadColumns.daemonsets,
  }),
  define({
    group: 'apps',
    version: 'v1',
    kind: 'ControllerRevision',
    plural: 'controllerrevisions',
    isNamespaced: true,
    strategy: controllerRevisionStrategy,
    columns: workloadColumns.controllerrevisions,
  }),
  define({
    ...batch,
    kind: 'Job',
    plural: 'jobs',
    subresources: [statusSubresource('Job')],
    fieldLabels: { 'status.successful': ['status', 'succeeded'] },
    strategy: jobStrategy,
    columns: workloadColumns.jobs,
  }),
  define({
    ...batch,
    kind: 'CronJob',
    plural: 'cronjobs',
    shortNames: ['cj'],
    subresources: [statusSubresource('CronJob')],
    strategy: cronJobStrategy,
    columns: workloadColumns.cronjobs,
  }),
  define({ ...autoscaler, version: 'v2' }),
  define({ ...autoscaler, version: 'v1', strategy: podAutoscalerV1Strategy, ...podAutoscalerConversion }),
  define({
    ...workload,
    kind: 'ReplicationController',
    plural: 'replicationcontrollers',
    shortNames: ['rc'],
    subresources: [scaleSubresource, statusSubresource('ReplicationController')],
    scale: scaled,
    fieldLabels: { 'status.replicas': ['status', 'replicas'] },
    strategy: replicationControllerStrategy,
    columns: workloadColumns.replicationcontrollers,
  }),
  define({
    version: 'v1',
    kind: 'PodTemplate',
    plural: 'podtemplates',
    isNamespaced: true,
    hasGeneration: true,
    returnsDeleted: true,
    strategy: podTemplateStrategy,
    columns: workloadColumns.podtemplates,
  }),
];
