import { deviceColumns } from '../printers/device-columns.js';
import { serverColumns } from '../printers/server-columns.js';
import { flowSchemaStrategy, priorityLevelStrategy } from '../strategies/flow-control.js';
import { define, statusSubresource } from './define.js';
import type { ResourceDefinition } from './resource.js';

const flow = {
  group: 'flowcontrol.apiserver.k8s.io',
  version: 'v1',
  isNamespaced: false,
  hasGeneration: true,
} as const;
const devices = { group: 'resource.k8s.io', version: 'v1', hasGeneration: true } as const;

/** What a server says of itself: its groups, its flows, its parts; and devices, which nothing here allocates. */
export const serverKinds: readonly ResourceDefinition[] = [
  define({
    version: 'v1',
    kind: 'ComponentStatus',
    plural: 'componentstatuses',
    isNamespaced: false,
    shortNames: ['cs'],
    verbs: ['get', 'list'],
    deprecation: 'v1 ComponentStatus is deprecated in v1.19+',
    columns: serverColumns.componentstatuses,
  }),
  define({
    group: 'apiregistration.k8s.io',
    version: 'v1',
    kind: 'APIService',
    plural: 'apiservices',
    isNamespaced: false,
    categories: ['api-extensions'],
    subresources: [statusSubresource('APIService')],
    columns: serverColumns.apiservices,
  }),
  define({
    ...flow,
    kind: 'FlowSchema',
    plural: 'flowschemas',
    subresources: [statusSubresource('FlowSchema')],
    strategy: flowSchemaStrategy,
    columns: serverColumns.flowschemas,
  }),
  define({
    ...flow,
    kind: 'PriorityLevelConfiguration',
    plural: 'prioritylevelconfigurations',
    subresources: [statusSubresource('PriorityLevelConfiguration')],
    strategy: priorityLevelStrategy,
    columns: serverColumns.prioritylevelconfigurations,
  }),
  define({ ...devices, kind: 'DeviceClass', plural: 'deviceclasses', isNamespaced: false }),
  define({
    ...devices,
    kind: 'ResourceClaim',
    plural: 'resourceclaims',
    isNamespaced: true,
    subresources: [statusSubresource('ResourceClaim')],
    columns: deviceColumns.resourceclaims,
  }),
  define({ ...devices, kind: 'ResourceClaimTemplate', plural: 'resourceclaimtemplates', isNamespaced: true }),
  define({
    ...devices,
    kind: 'ResourceSlice',
    plural: 'resourceslices',
    isNamespaced: false,
    fieldLabels: { 'spec.nodeName': ['spec', 'nodeName'], 'spec.driver': ['spec', 'driver'] },
    columns: deviceColumns.resourceslices,
  }),
];
