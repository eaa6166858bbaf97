import { type CustomResourceDefinition, type JsonSchema, resourceName } from '@castellan/machinery';
import { defaults, etcdClusters, longestClusterName, sizes } from './etcd-cluster.js';

const text: JsonSchema = { type: 'string' };
const integer: JsonSchema = { type: 'integer' };
const flag: JsonSchema = { type: 'boolean' };
const texts: JsonSchema = { type: 'object', additionalProperties: text };
/** Kept as written: parts of a pod, which the API server checks when the pod is made. */
const anyObject: JsonSchema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
const listOf = (items: JsonSchema): JsonSchema => ({ type: 'array', items });

const podSchema: JsonSchema = {
  type: 'object',
  description: 'How the pods of members are made. Applies to pods made from now on.',
  properties: {
    labels: texts,
    annotations: texts,
    nodeSelector: texts,
    affinity: anyObject,
    antiAffinity: flag,
    tolerations: listOf(anyObject),
    resources: anyObject,
    securityContext: anyObject,
    etcdEnv: listOf(anyObject),
    busyboxImage: text,
    DNSTimeoutInSecond: { type: 'integer', minimum: 0 },
    ClusterDomain: text,
    persistentVolumeClaimSpec: anyObject,
  },
};

const specSchema: JsonSchema = {
  type: 'object',
  required: ['size'],
  properties: {
    size: {
      type: 'integer',
      description: 'Voting members wanted. Odd numbers are the useful ones.',
      minimum: sizes.smallest,
      maximum: sizes.largest,
    },
    version: {
      type: 'string',
      description: 'The version of etcd, such as 3.5.16.',
      default: defaults.version,
      pattern: '^v?[0-9]+\\.[0-9]+\\.[0-9]+(-[0-9A-Za-z.-]+)?$',
    },
    repository: { type: 'string', description: `Where the image comes from; ${defaults.repository} when absent.` },
    paused: { type: 'boolean', description: 'While true nothing is changed; the status is still kept up to date.' },
    pod: podSchema,
    TLS: anyObject,
  },
};

const conditionSchema: JsonSchema = {
  type: 'object',
  required: ['type', 'status'],
  properties: {
    type: text,
    status: text,
    observedGeneration: integer,
    lastTransitionTime: { type: 'string', format: 'date-time' },
    reason: text,
    message: text,
  },
};

const memberSchema: JsonSchema = {
  type: 'object',
  properties: { name: text, id: text, role: text, isHealthy: flag, version: text },
};

const statusSchema: JsonSchema = {
  type: 'object',
  properties: {
    phase: { type: 'string', enum: ['Creating', 'Running', 'Failed'] },
    reason: { type: 'string', description: 'What is being done or waited for, and why.' },
    conditions: { ...listOf(conditionSchema), 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] },
    controlPaused: flag,
    observedGeneration: integer,
    size: integer,
    readyMembers: integer,
    serviceName: text,
    clientPort: integer,
    members: { type: 'object', properties: { ready: listOf(text), unready: listOf(text) } },
    memberDetails: listOf(memberSchema),
    currentVersion: text,
    targetVersion: text,
    clusterID: { type: 'string', description: 'Set once when the cluster has formed, and never changed.' },
    leader: text,
  },
};

/** `etcdclusters.etcd.database.coreos.com`, short name `etcd`. */
export const etcdClusterDefinition: CustomResourceDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: resourceName(etcdClusters) },
  spec: {
    group: etcdClusters.group,
    names: {
      kind: etcdClusters.kind,
      listKind: 'EtcdClusterList',
      plural: etcdClusters.plural,
      singular: 'etcdcluster',
      shortNames: ['etcd'],
    },
    scope: 'Namespaced',
    versions: [
      {
        name: etcdClusters.version,
        served: true,
        storage: true,
        subresources: { status: {} },
        additionalPrinterColumns: [
          { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
          { name: 'Ready', type: 'integer', jsonPath: '.status.readyMembers' },
          { name: 'Version', type: 'string', jsonPath: '.status.currentVersion' },
          { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
          { name: 'Leader', type: 'string', jsonPath: '.status.leader', priority: 1 },
          { name: 'Status', type: 'string', jsonPath: '.status.reason', priority: 1 },
          { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
        ],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            description: 'An etcd cluster.',
            required: ['spec'],
            properties: {
              apiVersion: text,
              kind: text,
              metadata: { type: 'object' },
              spec: specSchema,
              status: statusSchema,
            },
            'x-kubernetes-validations': [
              {
                rule: `self.metadata.name.size() <= ${longestClusterName}`,
                message: `the name may have ${longestClusterName} characters, so that the names of its pods are host names`,
              },
            ],
          },
        },
      },
    ],
  },
};
