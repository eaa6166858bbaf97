export { type ApplyOptions, applyPatch } from './apply/apply-patch.js';
export { builtInTypes, builtInTypesOf } from './apply/built-in-types.js';
export type { FieldManagerOptions } from './apply/field-manager.js';
export { type FieldTypes, type ListKey, untyped } from './apply/field-types.js';
export { ConfigurationError, mergeConfiguration } from './apply/merge-configuration.js';
export { typesOfResource } from './apply/schema-types.js';
export { trackUpdate } from './apply/track-update.js';
export { CelBudget } from './cel/budget.js';
export { CelCompileError, CelCostError, CelEvaluationError } from './cel/cel-error.js';
export { type CelEngine, type CelProgram, type CelVariable, loadCelEngine } from './cel/engine.js';
export { untyped as untypedCelValue } from './cel/from-json.js';
export { type CelAccessAnswer, type CelAccessQuestion, CelAuthorizer } from './cel/library-authorizer.js';
export { CelMessage, messageTypeProblem } from './cel/message.js';
export { jsonOfCel } from './cel/to-json.js';
export { type CelValue, LiteralMap as CelRecord } from './cel/value.js';
export type { ArraySchema } from './define-kind/array-schema.js';
export { defineKind } from './define-kind/define-kind.js';
export { KindDefinitionError } from './define-kind/definition-errors.js';
export type { Kind, ReadOf, VersionTypes, WriteOf } from './define-kind/kind.js';
export type { KindDefinition } from './define-kind/kind-definition.js';
export type { KindObject, WrittenObject } from './define-kind/kind-object.js';
export type { Fields, MapSchema, ObjectSchema, ReadOfFields, WriteOfFields } from './define-kind/object-schema.js';
export type { Converted, OlderVersion } from './define-kind/older-version.js';
export type { Column } from './define-kind/printer-columns.js';
export type { NumberSchema, StringSchema } from './define-kind/scalar-schemas.js';
export type { AnySchema, Presence, SchemaBuilder } from './define-kind/schema-builder.js';
export { s } from './define-kind/schema-builders.js';
export type { ReadOfUnion, Variants, WriteOfUnion } from './define-kind/union-schema.js';
export {
  type CertificateSigningRequest,
  type ConfigMap,
  type Container,
  type ContainerStatus,
  type ControllerRevision,
  type CronJob,
  certificateSigningRequests,
  configMaps,
  controllerRevisions,
  cronJobs,
  type DaemonSet,
  type DeepReadonly,
  type Deployment,
  daemonSets,
  deployments,
  type Endpoint,
  type EndpointAddress,
  type EndpointPort,
  type EndpointSlice,
  type EndpointSubset,
  type Endpoints,
  type EnvVar,
  type Event,
  type EventV1,
  endpointSlices,
  endpoints,
  events,
  eventsV1,
  type Job,
  type JobCondition,
  type JobSpec,
  type JobStatus,
  jobs,
  type Lease,
  leases,
  type MutatingWebhookConfiguration,
  mutatingWebhookConfigurations,
  type Namespace,
  type NetworkPolicy,
  type Node,
  namespaces,
  networkPolicies,
  nodes,
  type ObjectReference,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type Pod,
  type PodCondition,
  type PodDisruptionBudget,
  type PodFailurePolicy,
  type PodSpec,
  type PodStatus,
  type PodTemplateSpec,
  type Probe,
  persistentVolumeClaims,
  persistentVolumes,
  podDisruptionBudgets,
  pods,
  type ReplicaSet,
  type ReplicationController,
  type ResourceQuota,
  replicaSets,
  replicationControllers,
  resourceQuotas,
  type Secret,
  type Service,
  type ServiceAccount,
  type ServicePort,
  type StatefulSet,
  type StorageClass,
  type SuccessPolicy,
  secrets,
  serviceAccounts,
  services,
  statefulSets,
  storageClasses,
  type Taint,
  type Toleration,
  type ValidatingWebhookConfiguration,
  type Volume,
  type VolumeMount,
  validatingWebhookConfigurations,
} from './kinds/built-in.js';
export { type Condition, findCondition, isConditionTrue, setCondition } from './kinds/condition.js';
export {
  type CustomResourceDefinition,
  type CustomResourceDefinitionNames,
  type CustomResourceDefinitionSpec,
  type CustomResourceDefinitionStatus,
  type CustomResourceDefinitionVersion,
  type CustomResourceSubresources,
  customResourceDefinitions,
  type PrinterColumn,
} from './kinds/custom-resource-definition.js';
export {
  formatKey,
  type KubernetesObject,
  keyOf,
  type ObjectKey,
  type ObjectList,
  type ObjectMeta,
  type OwnerReference,
  parseKey,
} from './object.js';
export { createJsonPatch, type JsonPatchOperation } from './patch/create-json-patch.js';
export { applyJsonPatch, FailedTestError } from './patch/json-patch.js';
export { type MergeRule, type MergeRules, mergeRulesOf } from './patch/merge-keys.js';
export { applyMergePatch, createMergePatch } from './patch/merge-patch.js';
export { applyStrategicMergePatch } from './patch/strategic-merge-patch.js';
export { type Amounts, formatAmounts, parseAmounts, sumOfAmounts } from './quota/amounts.js';
export { podAmounts } from './quota/pod-amounts.js';
export { isInQuotaScope } from './quota/quota-scope.js';
export { countedKinds, isCountedIn, quotaUsage } from './quota/quota-usage.js';
export { apiVersionOf, type ResourceType, resourceName, resourcePath } from './resource-type.js';
export { loadEnginesFor } from './rules/schema-rules.js';
export { type CompiledSchema, compileSchema } from './schema/compile.js';
export type { JsonObject, JsonSchema, JsonValue, ValidationRule } from './schema/json-schema.js';
export type { Pruned } from './schema/prune.js';
export {
  type FieldRequirement,
  type FieldSelector,
  formatFieldSelector,
  matchesFields,
  parseFieldSelector,
} from './selector/field-selector.js';
export {
  formatLabelSelector,
  type LabelRequirement,
  type LabelSelector,
  type LabelSelectorObject,
  labelSelectorOf,
  matchesLabels,
} from './selector/label-selector.js';
export {
  matchesNodeSelector,
  matchesNodeSelectorTerm,
  type NodeSelector,
  type NodeSelectorTerm,
} from './selector/node-selector.js';
export { parseLabelSelector } from './selector/parse-label-selector.js';
export { isTolerated } from './selector/toleration.js';
export {
  isStatusError,
  type Status,
  type StatusCause,
  type StatusDetails,
  StatusError,
  type StatusReason,
  statusReasons,
} from './status-error.js';
export { claimOfVolume, claimsOfPod } from './storage/claim-of-volume.js';
export { storageAnnotations } from './storage/storage-annotations.js';
export {
  bestVolumeFor,
  hasStorageClass,
  isVolumeOfClaim,
  storageAmount,
  storageClassOf,
  type VolumeChoice,
  volumeMismatch,
} from './storage/volume-match.js';
export { checkStructural } from './structural/check-structural.js';
export {
  type FieldError,
  type FieldErrorType,
  fieldError,
  formatFieldError,
  invalidError,
  ShownValue,
} from './validation/field-error.js';
export { isIpAddress, isIpv4, isIpv6 } from './validation/ip-address.js';
export { annotationErrors, labelErrors } from './validation/labels.js';
export {
  dns1035LabelErrors,
  dns1123LabelErrors,
  dns1123SubdomainErrors,
  labelValueErrors,
  qualifiedNameErrors,
  wildcardSubdomainErrors,
} from './validation/names.js';
export { scaleSpecErrors, scaleStatusErrors } from './validation/scale-rules.js';
export { canonicalJson, goJson, goJsonInOrder } from './value/canonical-json.js';
export { deepEqual } from './value/deep-equal.js';
export { deepFreeze } from './value/deep-freeze.js';
export { exactJson, numberOf, parseExactJson } from './value/exact-json.js';
export { humanDuration } from './value/human-duration.js';
export {
  addQuantities,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  type Quantity,
  type QuantityFormat,
  quantityToNumber,
} from './value/quantity.js';
export { isList, isRecord, type JsonRecord, ownValue } from './value/record.js';
