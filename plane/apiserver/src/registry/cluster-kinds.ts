import { clusterColumns } from '../printers/cluster-columns.js';
import { serviceNetworkColumns } from '../printers/service-network-columns.js';
import { storageColumns } from '../printers/storage-columns.js';
import {
  mutatingPolicyStrategy,
  policyBindingStrategy,
  validatingPolicyStrategy,
  webhookConfigurationStrategy,
} from '../strategies/admission-kinds.js';
import { ingressStrategy } from '../strategies/ingress.js';
import { ingressClassStrategy } from '../strategies/ingress-class.js';
import { limitRangeStrategy } from '../strategies/limit-range.js';
import { networkPolicyStrategy } from '../strategies/network-policy.js';
import { persistentVolumeStrategy } from '../strategies/persistent-volume.js';
import { priorityClassStrategy } from '../strategies/priority-class.js';
import { resourceQuotaStrategy } from '../strategies/quota.js';
import { runtimeClassStrategy } from '../strategies/runtime-class.js';
import { ipAddressStrategy, serviceCidrStrategy } from '../strategies/service-network.js';
import { signingRequestStrategy } from '../strategies/signing-request.js';
import { storageClassStrategy } from '../strategies/storage-class.js';
import {
  csiDriverStrategy,
  csiNodeStrategy,
  storageCapacityStrategy,
  volumeAttributesClassStrategy,
} from '../strategies/storage-drivers.js';
import { volumeAttachmentStrategy } from '../strategies/volume-attachment.js';
import { define, statusSubresource } from './define.js';
import type { ResourceDefinition } from './resource.js';

const networking = { group: 'networking.k8s.io', version: 'v1' } as const;
const storage = { group: 'storage.k8s.io', version: 'v1', isNamespaced: false } as const;
const admission = {
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  isNamespaced: false,
  categories: ['api-extensions'],
  hasGeneration: true,
} as const;

/** What clusters are made of beside pods: networks, volumes, quotas, rules of admission. */
export const clusterKinds: readonly ResourceDefinition[] = [
  define({
    version: 'v1',
    kind: 'PersistentVolume',
    plural: 'persistentvolumes',
    isNamespaced: false,
    shortNames: ['pv'],
    subresources: [statusSubresource('PersistentVolume')],
    returnsDeleted: true,
    strategy: persistentVolumeStrategy,
    columns: clusterColumns.persistentvolumes,
  }),
  define({
    version: 'v1',
    kind: 'ResourceQuota',
    plural: 'resourcequotas',
    isNamespaced: true,
    shortNames: ['quota'],
    subresources: [statusSubresource('ResourceQuota')],
    returnsDeleted: true,
    strategy: resourceQuotaStrategy,
    columns: clusterColumns.resourcequotas,
  }),
  define({
    version: 'v1',
    kind: 'LimitRange',
    plural: 'limitranges',
    isNamespaced: true,
    shortNames: ['limits'],
    strategy: limitRangeStrategy,
    columns: clusterColumns.limitranges,
  }),
  define({
    ...networking,
    kind: 'Ingress',
    plural: 'ingresses',
    isNamespaced: true,
    shortNames: ['ing'],
    subresources: [statusSubresource('Ingress')],
    hasGeneration: true,
    strategy: ingressStrategy,
    columns: clusterColumns.ingresses,
  }),
  define({
    ...networking,
    kind: 'IngressClass',
    plural: 'ingressclasses',
    isNamespaced: false,
    hasGeneration: true,
    strategy: ingressClassStrategy,
    columns: clusterColumns.ingressclasses,
  }),
  define({
    ...networking,
    kind: 'NetworkPolicy',
    plural: 'networkpolicies',
    isNamespaced: true,
    shortNames: ['netpol'],
    hasGeneration: true,
    strategy: networkPolicyStrategy,
    columns: clusterColumns.networkpolicies,
  }),
  define({
    ...networking,
    kind: 'IPAddress',
    plural: 'ipaddresses',
    isNamespaced: false,
    shortNames: ['ip'],
    fieldLabels: {
      'spec.parentRef.name': ['spec', 'parentRef', 'name'],
      'spec.parentRef.namespace': ['spec', 'parentRef', 'namespace'],
      'spec.parentRef.resource': ['spec', 'parentRef', 'resource'],
    },
    strategy: ipAddressStrategy,
    columns: serviceNetworkColumns.ipaddresses,
  }),
  define({
    ...networking,
    kind: 'ServiceCIDR',
    plural: 'servicecidrs',
    isNamespaced: false,
    subresources: [statusSubresource('ServiceCIDR')],
    strategy: serviceCidrStrategy,
    columns: serviceNetworkColumns.servicecidrs,
  }),
  define({
    ...storage,
    kind: 'StorageClass',
    plural: 'storageclasses',
    shortNames: ['sc'],
    returnsDeleted: true,
    strategy: storageClassStrategy,
    columns: clusterColumns.storageclasses,
  }),
  define({
    ...storage,
    kind: 'CSIDriver',
    plural: 'csidrivers',
    returnsDeleted: true,
    strategy: csiDriverStrategy,
    columns: storageColumns.csidrivers,
  }),
  define({
    ...storage,
    kind: 'CSINode',
    plural: 'csinodes',
    returnsDeleted: true,
    strategy: csiNodeStrategy,
    columns: storageColumns.csinodes,
  }),
  define({
    ...storage,
    kind: 'CSIStorageCapacity',
    plural: 'csistoragecapacities',
    isNamespaced: true,
    strategy: storageCapacityStrategy,
    columns: storageColumns.csistoragecapacities,
  }),
  define({
    ...storage,
    kind: 'VolumeAttachment',
    plural: 'volumeattachments',
    subresources: [statusSubresource('VolumeAttachment')],
    returnsDeleted: true,
    strategy: volumeAttachmentStrategy,
    columns: storageColumns.volumeattachments,
  }),
  define({
    ...storage,
    kind: 'VolumeAttributesClass',
    plural: 'volumeattributesclasses',
    shortNames: ['vac'],
    strategy: volumeAttributesClassStrategy,
    columns: storageColumns.volumeattributesclasses,
  }),
  define({
    group: 'node.k8s.io',
    version: 'v1',
    kind: 'RuntimeClass',
    plural: 'runtimeclasses',
    isNamespaced: false,
    strategy: runtimeClassStrategy,
    columns: storageColumns.runtimeclasses,
  }),
  define({
    group: 'scheduling.k8s.io',
    version: 'v1',
    kind: 'PriorityClass',
    plural: 'priorityclasses',
    isNamespaced: false,
    shortNames: ['pc'],
    hasGeneration: true,
    strategy: priorityClassStrategy,
    columns: clusterColumns.priorityclasses,
  }),
  define({
    ...admission,
    kind: 'MutatingWebhookConfiguration',
    plural: 'mutatingwebhookconfigurations',
    strategy: webhookConfigurationStrategy({ reinvocationPolicy: 'Never' }),
    columns: clusterColumns.webhookconfigurations,
  }),
  define({
    ...admission,
    kind: 'ValidatingWebhookConfiguration',
    plural: 'validatingwebhookconfigurations',
    strategy: webhookConfigurationStrategy({}),
    columns: clusterColumns.webhookconfigurations,
  }),
  define({
    ...admission,
    kind: 'ValidatingAdmissionPolicy',
    plural: 'validatingadmissionpolicies',
    subresources: [statusSubresource('ValidatingAdmissionPolicy')],
    strategy: validatingPolicyStrategy,
    columns: clusterColumns.validatingadmissionpolicies,
  }),
  define({
    ...admission,
    kind: 'ValidatingAdmissionPolicyBinding',
    plural: 'validatingadmissionpolicybindings',
    strategy: policyBindingStrategy,
    columns: clusterColumns.policybindings,
  }),
  define({
    ...admission,
    kind: 'MutatingAdmissionPolicy',
    plural: 'mutatingadmissionpolicies',
    strategy: mutatingPolicyStrategy,
    columns: clusterColumns.mutatingadmissionpolicies,
  }),
  define({
    ...admission,
    kind: 'MutatingAdmissionPolicyBinding',
    plural: 'mutatingadmissionpolicybindings',
    strategy: policyBindingStrategy,
    columns: clusterColumns.policybindings,
  }),
  define({
    group: 'certificates.k8s.io',
    version: 'v1',
    kind: 'CertificateSigningRequest',
    plural: 'certificatesigningrequests',
    isNamespaced: false,
    shortNames: ['csr'],
    subresources: [
      { name: 'approval', kind: 'CertificateSigningRequest', verbs: ['get', 'patch', 'update'] },
      statusSubresource('CertificateSigningRequest'),
    ],
    fieldLabels: { 'spec.signerName': ['spec', 'signerName'] },
    strategy: signingRequestStrategy,
    columns: clusterColumns.certificatesigningrequests,
  }),
];
