/** How a strategic merge patch treats a list or object. All others: objects are merged, lists replaced. */
export type MergeRule =
  /** A list of objects: those with the same value at `key` are merged. */
  | { readonly by: 'key'; readonly key: string }
  /** A list of plain values: new ones are added. */
  | { readonly by: 'value' }
  /** An object that is replaced as a whole. */
  | { readonly by: 'replacement' };

/** Finds the rule of a field by its own name and that of the field that holds it ('' at the root). */
export type MergeRules = (parent: string, field: string) => MergeRule | undefined;

/**
 * The patch merge keys of the built-in kinds: `parent.field key`. A parent is a field, not a type: an element of
 * `containers` has the parent `containers`. From the `x-kubernetes-patch-merge-key`s of Kubernetes' OpenAPI document.
 */
const mergeKeyTable = `
  metadata.ownerReferences uid
  spec.containers name
  spec.initContainers name
  spec.ephemeralContainers name
  spec.hostAliases ip
  spec.imagePullSecrets name
  spec.resourceClaims name
  spec.schedulingGates name
  spec.topologySpreadConstraints topologyKey
  spec.volumes name
  spec.ports port
  spec.matchConditions name
  spec.variables name
  spec.drivers name
  containers.env name
  containers.ports containerPort
  containers.volumeDevices devicePath
  containers.volumeMounts mountPath
  initContainers.env name
  initContainers.ports containerPort
  initContainers.volumeDevices devicePath
  initContainers.volumeMounts mountPath
  ephemeralContainers.env name
  ephemeralContainers.ports containerPort
  ephemeralContainers.volumeDevices devicePath
  ephemeralContainers.volumeMounts mountPath
  containerStatuses.allocatedResourcesStatus name
  containerStatuses.volumeMounts mountPath
  initContainerStatuses.allocatedResourcesStatus name
  initContainerStatuses.volumeMounts mountPath
  ephemeralContainerStatuses.allocatedResourcesStatus name
  ephemeralContainerStatuses.volumeMounts mountPath
  status.addresses type
  status.conditions type
  status.hostIPs ip
  status.podIPs ip
  status.reservedFor uid
  status.resourceClaimStatuses name
  .conditions type
  .secrets name
  .webhooks name
  webhooks.matchConditions name
  podGroupTemplates.resourceClaims name
  openAPIV3Schema.x-kubernetes-validations rule
`;

const keyed: ReadonlyMap<string, MergeRule> = new Map(
  mergeKeyTable
    .trim()
    .split('\n')
    .map((line) => {
      const [field = '', key = ''] = line.trim().split(' ');
      return [field, { by: 'key', key }];
    }),
);

const valued: ReadonlySet<string> = new Set(['metadata.finalizers', 'spec.podCIDRs']);

/** Kinds of which a field with a name of the table is treated otherwise. */
const exceptions: ReadonlyMap<string, MergeRule | undefined> = new Map([
  ['policy/PodDisruptionBudget spec.selector', { by: 'replacement' }],
  ['apiextensions.k8s.io/CustomResourceDefinition status.conditions', undefined],
  ['certificates.k8s.io/CertificateSigningRequest status.conditions', undefined],
  ['networking.k8s.io/NetworkPolicy status.conditions', undefined],
  ['admissionregistration.k8s.io/MutatingAdmissionPolicy spec.variables', undefined],
  ['admissionregistration.k8s.io/ValidatingAdmissionPolicy status.conditions', undefined],
]);

/** The rules of a built-in kind. */
export function mergeRulesOf(type: { readonly group: string; readonly kind: string }): MergeRules {
  return (parent, field) => {
    const name = `${parent}.${field}`;
    const exception = `${type.group}/${type.kind} ${name}`;
    if (exceptions.has(exception)) return exceptions.get(exception);
    return valued.has(name) ? { by: 'value' } : keyed.get(name);
  };
}
