import { rbacKinds } from '../authorization/rbac-kinds.js';
import { columnsOf } from '../printers/built-in-columns.js';
import { disruptionBudgetStrategy } from '../strategies/disruption-budget.js';
import { endpointSliceStrategy } from '../strategies/endpoint-slice.js';
import { endpointsStrategy } from '../strategies/endpoints.js';
import { coreEventStrategy, eventConversion, eventStrategy } from '../strategies/event.js';
import { leaseStrategy } from '../strategies/lease.js';
import { nodeStrategy } from '../strategies/node.js';
import { clusterKinds } from './cluster-kinds.js';
import { define, statusSubresource } from './define.js';
import type { ResourceDefinition } from './resource.js';
import { serverKinds } from './server-kinds.js';
import type { Strategy } from './strategy.js';
import { workloadKinds } from './workload-kinds.js';

export interface BuiltInStrategies {
  readonly namespace: Strategy;
  readonly pod: Strategy;
  readonly service: Strategy;
  readonly configMap: Strategy;
  readonly secret: Strategy;
  readonly persistentVolumeClaim: Strategy;
  readonly customResourceDefinition: Strategy;
}

/** Events live an hour, as kube-apiserver's do by default. */
const eventTtlSeconds = 3600;

/** What may be asked of a proxy. */
const proxyVerbs = ['create', 'delete', 'get', 'patch', 'update'] as const;

const eventLabels = {
  'involvedObject.kind': ['involvedObject', 'kind'],
  'involvedObject.namespace': ['involvedObject', 'namespace'],
  'involvedObject.name': ['involvedObject', 'name'],
  'involvedObject.uid': ['involvedObject', 'uid'],
  'involvedObject.apiVersion': ['involvedObject', 'apiVersion'],
  'involvedObject.resourceVersion': ['involvedObject', 'resourceVersion'],
  'involvedObject.fieldPath': ['involvedObject', 'fieldPath'],
  reason: ['reason'],
  reportingComponent: ['reportingComponent'],
  source: ['source', 'component'],
  type: ['type'],
};

/** The same fields, asked for by their names in events.k8s.io. */
const eventsGroupLabels = {
  'regarding.kind': ['regarding', 'kind'],
  'regarding.namespace': ['regarding', 'namespace'],
  'regarding.name': ['regarding', 'name'],
  'regarding.uid': ['regarding', 'uid'],
  'regarding.apiVersion': ['regarding', 'apiVersion'],
  'regarding.resourceVersion': ['regarding', 'resourceVersion'],
  'regarding.fieldPath': ['regarding', 'fieldPath'],
  reason: ['reason'],
  reportingController: ['reportingController'],
  type: ['type'],
};

/** A way of writing one part of a pod. */
const podPart = (name: string) => ({ ...statusSubresource('Pod'), name });

/**
 * Every built-in kind that this server serves: one row each, with a strategy where the kind has rules of its own.
 * Names, short names and verbs are those of Kubernetes 1.36.
 */

export function builtInKinds(strategies: BuiltInStrategies): readonly ResourceDefinition[] {
  return [
    define({
      version: 'v1',
      kind: 'Namespace',
      plural: 'namespaces',
      isNamespaced: false,
      shortNames: ['ns'],
      verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
      subresources: [{ name: 'finalize', kind: 'Namespace', verbs: ['update'] }, statusSubresource('Namespace')],
      fieldLabels: { 'status.phase': ['status', 'phase'], name: ['metadata', 'name'] },
      returnsDeleted: true,
      strategy: strategies.namespace,
      columns: columnsOf.namespaces,
    }),
    define({
      version: 'v1',
      kind: 'Pod',
      plural: 'pods',
      isNamespaced: true,
      shortNames: ['po'],
      categories: ['all'],
      subresources: [
        { name: 'attach', kind: 'PodAttachOptions', verbs: ['create', 'get'] },
        { name: 'binding', kind: 'Binding', verbs: ['create'] },
        podPart('ephemeralcontainers'),
        { name: 'eviction', kind: 'Eviction', group: 'policy', version: 'v1', verbs: ['create'] },
        { name: 'exec', kind: 'PodExecOptions', verbs: ['create', 'get'] },
        { name: 'log', kind: 'Pod', verbs: ['get'] },
        { name: 'portforward', kind: 'PodPortForwardOptions', verbs: ['create', 'get'] },
        { name: 'proxy', kind: 'PodProxyOptions', verbs: proxyVerbs },
        podPart('resize'),
        statusSubresource('Pod'),
      ],
      fieldLabels: {
        'spec.host': ['spec', 'nodeName'],
        // Known, and never there: upstream has no value for it.
        'status.podIPs': [],
        'spec.nodeName': ['spec', 'nodeName'],
        'spec.restartPolicy': ['spec', 'restartPolicy'],
        'spec.schedulerName': ['spec', 'schedulerName'],
        'spec.serviceAccountName': ['spec', 'serviceAccountName'],
        'spec.hostNetwork': ['spec', 'hostNetwork'],
        'status.phase': ['status', 'phase'],
        'status.podIP': ['status', 'podIP'],
        'status.nominatedNodeName': ['status', 'nominatedNodeName'],
      },
      hasGeneration: true,
      returnsDeleted: true,
      strategy: strategies.pod,
      columns: columnsOf.pods,
    }),
    define({
      version: 'v1',
      kind: 'Service',
      plural: 'services',
      isNamespaced: true,
      shortNames: ['svc'],
      categories: ['all'],
      subresources: [{ name: 'proxy', kind: 'ServiceProxyOptions', verbs: proxyVerbs }, statusSubresource('Service')],
      fieldLabels: { 'spec.clusterIP': ['spec', 'clusterIP'], 'spec.type': ['spec', 'type'] },
      returnsDeleted: true,
      strategy: strategies.service,
      columns: columnsOf.services,
    }),
    define({
      version: 'v1',
      kind: 'Endpoints',
      plural: 'endpoints',
      singular: 'endpoints',
      isNamespaced: true,
      shortNames: ['ep'],
      createsOnUpdate: true,
      deprecation: 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice',
      strategy: endpointsStrategy,
      columns: columnsOf.endpoints,
    }),
    define({
      version: 'v1',
      kind: 'ConfigMap',
      plural: 'configmaps',
      isNamespaced: true,
      shortNames: ['cm'],
      strategy: strategies.configMap,
      columns: columnsOf.configmaps,
    }),
    define({
      version: 'v1',
      kind: 'Secret',
      plural: 'secrets',
      isNamespaced: true,
      fieldLabels: { type: ['type'] },
      strategy: strategies.secret,
      columns: columnsOf.secrets,
    }),
    define({
      version: 'v1',
      kind: 'ServiceAccount',
      plural: 'serviceaccounts',
      isNamespaced: true,
      shortNames: ['sa'],
      subresources: [
        {
          name: 'token',
          kind: 'TokenRequest',
          group: 'authentication.k8s.io',
          version: 'v1',
          verbs: ['create'],
        },
      ],
      returnsDeleted: true,
      columns: columnsOf.serviceaccounts,
    }),
    define({
      version: 'v1',
      kind: 'Event',
      plural: 'events',
      isNamespaced: true,
      shortNames: ['ev'],
      createsOnUpdate: true,
      timeToLiveSeconds: eventTtlSeconds,
      fieldLabels: eventLabels,
      strategy: coreEventStrategy,
      columns: columnsOf.events,
    }),
    define({
      version: 'v1',
      kind: 'Node',
      plural: 'nodes',
      isNamespaced: false,
      shortNames: ['no'],
      subresources: [{ name: 'proxy', kind: 'NodeProxyOptions', verbs: proxyVerbs }, statusSubresource('Node')],
      strategy: nodeStrategy,
      fieldLabels: { 'spec.unschedulable': ['spec', 'unschedulable'] },
      columns: columnsOf.nodes,
    }),
    define({
      version: 'v1',
      kind: 'PersistentVolumeClaim',
      plural: 'persistentvolumeclaims',
      isNamespaced: true,
      shortNames: ['pvc'],
      subresources: [statusSubresource('PersistentVolumeClaim')],
      returnsDeleted: true,
      strategy: strategies.persistentVolumeClaim,
      columns: columnsOf.persistentvolumeclaims,
    }),
    define({
      group: 'events.k8s.io',
      version: 'v1',
      kind: 'Event',
      plural: 'events',
      isNamespaced: true,
      shortNames: ['ev'],
      createsOnUpdate: true,
      timeToLiveSeconds: eventTtlSeconds,
      fieldLabels: eventsGroupLabels,
      strategy: eventStrategy,
      columns: columnsOf.events,
      ...eventConversion,
    }),
    define({
      group: 'coordination.k8s.io',
      version: 'v1',
      kind: 'Lease',
      plural: 'leases',
      isNamespaced: true,
      createsOnUpdate: true,
      strategy: leaseStrategy,
      columns: columnsOf.leases,
    }),
    define({
      group: 'discovery.k8s.io',
      version: 'v1',
      kind: 'EndpointSlice',
      plural: 'endpointslices',
      isNamespaced: true,
      hasGeneration: true,
      strategy: endpointSliceStrategy,
      columns: columnsOf.endpointslices,
    }),
    define({
      group: 'policy',
      version: 'v1',
      kind: 'PodDisruptionBudget',
      plural: 'poddisruptionbudgets',
      isNamespaced: true,
      shortNames: ['pdb'],
      subresources: [statusSubresource('PodDisruptionBudget')],
      strategy: disruptionBudgetStrategy,
      hasGeneration: true,
      columns: columnsOf.poddisruptionbudgets,
    }),
    define({
      group: 'apiextensions.k8s.io',
      version: 'v1',
      kind: 'CustomResourceDefinition',
      plural: 'customresourcedefinitions',
      isNamespaced: false,
      shortNames: ['crd', 'crds'],
      categories: ['api-extensions'],
      subresources: [statusSubresource('CustomResourceDefinition')],
      hasGeneration: true,
      strategy: strategies.customResourceDefinition,
      columns: columnsOf.customresourcedefinitions,
    }),
    ...rbacKinds,
    ...workloadKinds,
    ...clusterKinds,
    ...serverKinds,
  ];
}
