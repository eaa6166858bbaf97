import type * as admissionregistration from 'kubernetes-types/admissionregistration/v1.js';
import type * as apps from 'kubernetes-types/apps/v1.js';
import type * as batch from 'kubernetes-types/batch/v1.js';
import type { CertificateSigningRequest as CertificateSigningRequestV1 } from 'kubernetes-types/certificates/v1.js';
import type { Lease as LeaseV1 } from 'kubernetes-types/coordination/v1.js';
import type * as core from 'kubernetes-types/core/v1.js';
import type * as discovery from 'kubernetes-types/discovery/v1.js';
import type { Event as EventsEvent } from 'kubernetes-types/events/v1.js';
import type * as networking from 'kubernetes-types/networking/v1.js';
import type * as policy from 'kubernetes-types/policy/v1.js';
import type * as storage from 'kubernetes-types/storage/v1.js';
import type { KubernetesObject } from '../object.js';
import type { ResourceType } from '../resource-type.js';

/** `T` and all within it, not to be changed. */
export type DeepReadonly<T> = T extends (infer Item)[]
  ? readonly DeepReadonly<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> }
    : T;

/** The published type of a kind, with our `metadata`, which is never absent, and read-only throughout. */
type Kind<T> = KubernetesObject & DeepReadonly<Omit<T, 'apiVersion' | 'kind' | 'metadata'>>;

/** Newer than the published types. */
interface CountsTerminating {
  readonly status?: { readonly terminatingReplicas?: number };
}

export type Namespace = Kind<core.Namespace>;
export type Node = Kind<core.Node>;
export type Pod = Kind<core.Pod>;
export type Service = Kind<core.Service>;
export type Endpoints = Kind<core.Endpoints>;
export type ReplicationController = Kind<core.ReplicationController>;
export type ConfigMap = Kind<core.ConfigMap>;
export type Secret = Kind<core.Secret>;
export type ServiceAccount = Kind<core.ServiceAccount>;
export type Event = Kind<core.Event>;
/** The newer form of an Event, of events.k8s.io/v1; a server gives either as both. */
export type EventV1 = Kind<EventsEvent>;
export type PersistentVolume = Kind<core.PersistentVolume>;
export type PersistentVolumeClaim = Kind<core.PersistentVolumeClaim>;
export type StorageClass = Kind<storage.StorageClass>;
export type Deployment = Kind<apps.Deployment> & CountsTerminating;
export type ReplicaSet = Kind<apps.ReplicaSet> & CountsTerminating;
export type StatefulSet = Kind<apps.StatefulSet>;
export type DaemonSet = Kind<apps.DaemonSet>;
/** `data` is any JSON: what it means is for the controller that made it. */
export type ControllerRevision = Kind<Omit<apps.ControllerRevision, 'data'>> & { readonly data?: unknown };
export type Job = Kind<batch.Job>;
export type CronJob = Kind<batch.CronJob>;
export type ResourceQuota = Kind<core.ResourceQuota>;
export type Lease = Kind<LeaseV1>;
export type CertificateSigningRequest = Kind<CertificateSigningRequestV1>;
export type EndpointSlice = Kind<discovery.EndpointSlice>;
export type NetworkPolicy = Kind<networking.NetworkPolicy>;
export type PodDisruptionBudget = Kind<policy.PodDisruptionBudget>;
export type MutatingWebhookConfiguration = Kind<admissionregistration.MutatingWebhookConfiguration>;
export type ValidatingWebhookConfiguration = Kind<admissionregistration.ValidatingWebhookConfiguration>;

export type PodTemplateSpec = DeepReadonly<core.PodTemplateSpec>;
export type JobSpec = DeepReadonly<batch.JobSpec>;
export type JobStatus = DeepReadonly<batch.JobStatus>;
export type JobCondition = DeepReadonly<batch.JobCondition>;
export type PodFailurePolicy = DeepReadonly<batch.PodFailurePolicy>;
export type SuccessPolicy = DeepReadonly<batch.SuccessPolicy>;
export type PodSpec = DeepReadonly<core.PodSpec>;
export type PodStatus = DeepReadonly<core.PodStatus>;
export type PodCondition = DeepReadonly<core.PodCondition>;
export type Container = DeepReadonly<core.Container>;
export type ContainerStatus = DeepReadonly<core.ContainerStatus>;
export type EnvVar = DeepReadonly<core.EnvVar>;
export type Volume = DeepReadonly<core.Volume>;
export type VolumeMount = DeepReadonly<core.VolumeMount>;
export type Probe = DeepReadonly<core.Probe>;
export type ServicePort = DeepReadonly<core.ServicePort>;
export type EndpointAddress = DeepReadonly<core.EndpointAddress>;
export type EndpointSubset = DeepReadonly<core.EndpointSubset>;
export type Endpoint = DeepReadonly<discovery.Endpoint>;
export type EndpointPort = DeepReadonly<discovery.EndpointPort>;
export type ObjectReference = DeepReadonly<core.ObjectReference>;
export type Taint = DeepReadonly<core.Taint>;
export type Toleration = DeepReadonly<core.Toleration>;

export const namespaces: ResourceType<Namespace> = clusterScoped('', 'Namespace', 'namespaces');
export const nodes: ResourceType<Node> = clusterScoped('', 'Node', 'nodes');
export const persistentVolumes: ResourceType<PersistentVolume> = clusterScoped(
  '',
  'PersistentVolume',
  'persistentvolumes',
);

export const pods: ResourceType<Pod> = namespaced('', 'Pod', 'pods');
export const replicationControllers: ResourceType<ReplicationController> = namespaced(
  '',
  'ReplicationController',
  'replicationcontrollers',
);
export const services: ResourceType<Service> = namespaced('', 'Service', 'services');
export const endpoints: ResourceType<Endpoints> = namespaced('', 'Endpoints', 'endpoints');
export const configMaps: ResourceType<ConfigMap> = namespaced('', 'ConfigMap', 'configmaps');
export const secrets: ResourceType<Secret> = namespaced('', 'Secret', 'secrets');
export const serviceAccounts: ResourceType<ServiceAccount> = namespaced('', 'ServiceAccount', 'serviceaccounts');
export const events: ResourceType<Event> = namespaced('', 'Event', 'events');
export const eventsV1: ResourceType<EventV1> = namespaced('events.k8s.io', 'Event', 'events');
export const persistentVolumeClaims: ResourceType<PersistentVolumeClaim> = namespaced(
  '',
  'PersistentVolumeClaim',
  'persistentvolumeclaims',
);
export const deployments: ResourceType<Deployment> = namespaced('apps', 'Deployment', 'deployments');
export const replicaSets: ResourceType<ReplicaSet> = namespaced('apps', 'ReplicaSet', 'replicasets');
export const statefulSets: ResourceType<StatefulSet> = namespaced('apps', 'StatefulSet', 'statefulsets');
export const daemonSets: ResourceType<DaemonSet> = namespaced('apps', 'DaemonSet', 'daemonsets');
export const controllerRevisions: ResourceType<ControllerRevision> = namespaced(
  'apps',
  'ControllerRevision',
  'controllerrevisions',
);
export const jobs: ResourceType<Job> = namespaced('batch', 'Job', 'jobs');
export const cronJobs: ResourceType<CronJob> = namespaced('batch', 'CronJob', 'cronjobs');
export const resourceQuotas: ResourceType<ResourceQuota> = namespaced('', 'ResourceQuota', 'resourcequotas');
export const storageClasses: ResourceType<StorageClass> = clusterScoped(
  'storage.k8s.io',
  'StorageClass',
  'storageclasses',
);
export const leases: ResourceType<Lease> = namespaced('coordination.k8s.io', 'Lease', 'leases');
export const certificateSigningRequests: ResourceType<CertificateSigningRequest> = clusterScoped(
  'certificates.k8s.io',
  'CertificateSigningRequest',
  'certificatesigningrequests',
);
export const endpointSlices: ResourceType<EndpointSlice> = namespaced(
  'discovery.k8s.io',
  'EndpointSlice',
  'endpointslices',
);
export const networkPolicies: ResourceType<NetworkPolicy> = namespaced(
  'networking.k8s.io',
  'NetworkPolicy',
  'networkpolicies',
);
export const podDisruptionBudgets: ResourceType<PodDisruptionBudget> = namespaced(
  'policy',
  'PodDisruptionBudget',
  'poddisruptionbudgets',
);
export const mutatingWebhookConfigurations: ResourceType<MutatingWebhookConfiguration> = clusterScoped(
  'admissionregistration.k8s.io',
  'MutatingWebhookConfiguration',
  'mutatingwebhookconfigurations',
);
export const validatingWebhookConfigurations: ResourceType<ValidatingWebhookConfiguration> = clusterScoped(
  'admissionregistration.k8s.io',
  'ValidatingWebhookConfiguration',
  'validatingwebhookconfigurations',
);

function namespaced(group: string, kind: string, plural: string) {
  return { group, version: 'v1', kind, plural, isNamespaced: true };
}

function clusterScoped(group: string, kind: string, plural: string) {
  return { group, version: 'v1', kind, plural, isNamespaced: false };
}
