/**
 * What Kubernetes 1.36 says of types beyond schema-notes.gen.ts, whose source is of 1.27; in the same form. `name=` alone takes
 * back what stood there.
 */
export const newerNotes: Readonly<Record<string, string>> = {
  'admissionregistration/v1.MatchResources': '=atomic',
  'admissionregistration/v1.MutatingAdmissionPolicySpec': 'matchConditions=map:name:merge:name',
  'admissionregistration/v1.NamedRuleWithOperations': '=atomic',
  'admissionregistration/v1.ParamKind': '=atomic',
  'admissionregistration/v1.ParamRef': '=atomic',
  'admissionregistration/v1.ValidatingAdmissionPolicyBindingSpec': 'validationActions=set:::',
  'admissionregistration/v1.ValidatingAdmissionPolicySpec':
    'matchConditions=map:name:merge:name variables=map:name:merge:name',
  'admissionregistration/v1.ValidatingAdmissionPolicyStatus': 'conditions=map:type::',
  'admissionregistration/v1.Variable': '=atomic',
  'apps/v1.DeploymentSpec': 'strategy=::retainKeys:',
  'core/v1.ContainerRestartRuleOnExitCodes': 'values=set:::',
  'core/v1.ContainerStatus': 'allocatedResourcesStatus=map:name:merge:name volumeMounts=map:mountPath:merge:mountPath',
  'core/v1.FileKeySelector': '=atomic',
  'core/v1.NodeAllocatableResourceClaimStatus': 'containers=set:::',
  'core/v1.NodeSpec': 'podCIDRs=set::merge:',
  'core/v1.PersistentVolumeClaimStatus': 'allocatedResourceStatuses=granular:::',
  'core/v1.PersistentVolumeSpec': 'claimRef=granular:::',
  'core/v1.PodStatus': 'hostIPs=atomic::merge:ip resourceClaimStatuses=map:name:merge,retainKeys:name',
  'core/v1.ResourceStatus': 'resources=map:resourceID::',
  'flowcontrol/v1.FlowSchemaStatus': 'conditions=map:type:merge:type',
  'flowcontrol/v1.NonResourcePolicyRule': 'nonResourceURLs=set::: verbs=set:::',
  'flowcontrol/v1.PriorityLevelConfigurationStatus': 'conditions=map:type:merge:type',
  'flowcontrol/v1.ResourcePolicyRule': 'apiGroups=set::: namespaces=set::: resources=set::: verbs=set:::',
  'meta/v1.LabelSelectorRequirement': 'key=',
  'meta/v1.ObjectMeta': 'finalizers=set::merge:',
  'networking/v1.ServiceBackendPort': '=atomic',
  'networking/v1.ServiceCIDRStatus': 'conditions=map:type:merge:type',
  'policy/v1.PodDisruptionBudgetSpec': 'selector=::replace:',
};
