#!/usr/bin/env node
// Writes what the API says of kubectl's columns: plane/apiserver/src/printers/column-descriptions.gen.ts.
//
//   node scripts/generate-column-descriptions.mjs RECORDINGS
//
// RECORDINGS  a folder of recorded conversations (JSON) of a kube-apiserver that asked for tables: they come first.
//
// What the columns of other kinds say is what the API says of the field that they show (plane/apiserver/src/discovery/
// descriptions.ts, built before), or words of their own.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readDescriptions } from '../plane/apiserver/dist/src/discovery/descriptions.js';

const [recordings] = process.argv.slice(2);
if (recordings === undefined) {
  console.error('usage: generate-column-descriptions.mjs RECORDINGS');
  process.exit(2);
}
const { types } = readDescriptions();

/** Columns of kinds that nobody recorded, and the fields that they show. */
const shown = {
  deployments: {
    'Up-to-date': 'apps/v1.DeploymentStatus.updatedReplicas',
    Available: 'apps/v1.DeploymentStatus.availableReplicas',
  },
  daemonsets: {
    Desired: 'apps/v1.DaemonSetStatus.desiredNumberScheduled',
    Current: 'apps/v1.DaemonSetStatus.currentNumberScheduled',
    Ready: 'apps/v1.DaemonSetStatus.numberReady',
    'Up-to-date': 'apps/v1.DaemonSetStatus.updatedNumberScheduled',
    Available: 'apps/v1.DaemonSetStatus.numberAvailable',
    'Node Selector': 'core/v1.PodSpec.nodeSelector',
  },
  jobs: { Completions: 'batch/v1.JobStatus.succeeded' },
  pods: {
    'Nominated Node': 'core/v1.PodStatus.nominatedNodeName',
    'Readiness Gates': 'core/v1.PodSpec.readinessGates',
  },
  certificatesigningrequests: {
    SignerName: 'certificates/v1.CertificateSigningRequestSpec.signerName',
    Requestor: 'certificates/v1.CertificateSigningRequestSpec.request',
    RequestedDuration: 'certificates/v1.CertificateSigningRequestSpec.expirationSeconds',
    Condition: 'certificates/v1.CertificateSigningRequestStatus.conditions',
  },
  csidrivers: {
    AttachRequired: 'storage/v1.CSIDriverSpec.attachRequired',
    PodInfoOnMount: 'storage/v1.CSIDriverSpec.podInfoOnMount',
    StorageCapacity: 'storage/v1.CSIDriverSpec.storageCapacity',
    TokenRequests: 'storage/v1.CSIDriverSpec.tokenRequests',
    RequiresRepublish: 'storage/v1.CSIDriverSpec.requiresRepublish',
    Modes: 'storage/v1.CSIDriverSpec.volumeLifecycleModes',
  },
  csistoragecapacities: { StorageClassName: 'storage/v1.CSIStorageCapacity.storageClassName' },
  volumeattachments: {
    Attacher: 'storage/v1.VolumeAttachmentSpec.attacher',
    PV: 'storage/v1.VolumeAttachmentSource.persistentVolumeName',
    Node: 'storage/v1.VolumeAttachmentSpec.nodeName',
    Attached: 'storage/v1.VolumeAttachmentStatus.attached',
  },
};

const labels = 'https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors';
const policyWords = { ParamKind: 'ParamKind specifies the kind of resources used to parameterize this policy' };
const bindingWords = {
  PolicyName: 'PolicyName indicates the policy definition which the policy binding binded to',
  ParamRef: 'ParamRef indicates the param resource which sets the configration param',
};

/** Columns with words of their own, and those of fields that are newer than the descriptions or refer to a type. */
const said = {
  pods: {
    Ready: 'The aggregate readiness state of this pod for accepting traffic.',
    Status: 'The aggregate status of the containers in this pod.',
    Restarts:
      'The number of times the containers in this pod have been restarted and when the last container in this pod has restarted.',
    IP: 'podIP address allocated to the pod. Routable at least within the cluster. Empty if not yet allocated.',
    Node: 'NodeName indicates in which node this pod is scheduled. If empty, this pod is a candidate for scheduling by the scheduler defined in schedulerName. Once this field is set, the kubelet for this node becomes responsible for the lifecycle of this pod. This field should not be used to express a desire for the pod to be scheduled on a specific node. https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/#nodename',
  },
  deployments: {
    Ready: 'Number of the pod with ready state',
    Selector:
      "Label selector for pods. Existing ReplicaSets whose pods are selected by this will be the ones affected by this deployment. It must match the pod template's labels.",
  },
  daemonsets: {
    Selector: `A label query over pods that are managed by the daemon set. Must match in order to be controlled. It must match the pod template's labels. More info: ${labels}`,
  },
  jobs: {
    Status: 'Status of the job.',
    Duration: 'Time required to complete the job.',
    Selector: `A label query over pods that should match the pod count. Normally, the system sets this field for you. More info: ${labels}`,
  },
  podtemplates: { 'Pod Labels': 'The labels for the pod template.' },
  networkpolicies: {
    'Pod-Selector':
      "podSelector selects the pods to which this NetworkPolicy object applies. The array of rules is applied to any pods selected by this field. An empty selector matches all pods in the policy's namespace. Multiple network policies can select the same set of pods. In this case, the ingress rules for each are combined additively. This field is optional. If it is not specified, it defaults to an empty selector.",
  },
  mutatingwebhookconfigurations: {
    Webhooks: 'Webhooks indicates the number of webhooks registered in this configuration',
  },
  csinodes: { Drivers: 'Drivers indicates the number of CSI drivers registered on the node' },
  csistoragecapacities: {
    Capacity:
      'capacity is the value reported by the CSI driver in its GetCapacityResponse for a GetCapacityRequest with topology and parameters that match the previous fields.\n\nThe semantic is currently (CSI spec 1.2) defined as: The available capacity, in bytes, of the storage that can be used to provision volumes. If not set, that information is currently unavailable.',
  },
  volumeattributesclasses: { DriverName: 'Name of the CSI driver This field is immutable.' },
  validatingadmissionpolicies: {
    Validations: 'Validations indicates the number of validation rules defined in this configuration',
    ...policyWords,
  },
  mutatingadmissionpolicies: {
    Mutations: 'Mutation indicates the number of mutations rules defined in this configuration',
    ...policyWords,
  },
  validatingadmissionpolicybindings: bindingWords,
  mutatingadmissionpolicybindings: bindingWords,
  ipaddresses: {
    ParentRef:
      'ParentRef references the resource that an IPAddress is attached to. An IPAddress must reference a parent object.',
  },
  servicecidrs: {
    CIDRs:
      'CIDRs defines the IP blocks in CIDR notation (e.g. "192.168.0.0/24" or "2001:db8::/64") from which to assign service cluster IPs. Max of two CIDRs is allowed, one of each IP family. This field is immutable.',
  },
  flowschemas: { MissingPL: 'references a broken or non-existent PriorityLevelConfiguration' },
  resourceclaims: { State: 'A summary of the current state (allocated, pending, reserved, etc.).' },
  resourceslices: {
    Node: 'NodeName identifies the node which provides the resources in this pool. A field selector can be used to list only ResourceSlice objects belonging to a certain node.\n\nThis field can be used to limit access from nodes to ResourceSlices with the same node name. It also indicates to autoscalers that adding new nodes of the same type as some old node might also make new resources available.\n\nExactly one of NodeName, NodeSelector, AllNodes, and PerDeviceNodeSelection must be set. This field is immutable.',
    Driver:
      'Driver identifies the DRA driver providing the capacity information. A field selector can be used to list only ResourceSlice objects with a certain driver name.\n\nMust be a DNS subdomain and should end with a DNS domain owned by the vendor of the driver. It should use only lower case characters. This field is immutable.',
    Pool: 'Name is used to identify the pool. For node-local devices, this is often the node name, but this is not required.\n\nIt must not be longer than 253 characters and must consist of one or more DNS sub-domains separated by slashes. This field is immutable.',
  },
  apiservices: {
    Service: 'The reference to the service that hosts this API endpoint.',
    Available: 'Whether this service is available.',
  },
  componentstatuses: {
    Status: 'Status of the component conditions',
    Message: 'Message of the component conditions',
    Error: 'Error of the component conditions',
  },
};

const descriptions = {};
const note = (resource, column, text) => {
  if (text === undefined || text === '') return;
  descriptions[resource] ??= {};
  descriptions[resource][column] ??= text;
};

for (const file of readdirSync(recordings).sort()) {
  if (file.startsWith('crd--') || file.includes('custom')) continue;
  for (const { request = { path: '' }, response } of JSON.parse(readFileSync(join(recordings, file), 'utf8')).steps) {
    const body = response?.select ?? response?.body ?? {};
    const columns = body['/columnDefinitions'] ?? body['/0/object/columnDefinitions'] ?? body.columnDefinitions ?? [];
    const [, resource] = /\/(?:api|apis\/[^/]+)\/v\d+\/(?:namespaces\/[^/]+\/)?([a-z]+)/.exec(request.path) ?? [];
    for (const { name, description } of columns) note(resource, name, description);
  }
}
for (const [resource, columns] of Object.entries(shown)) {
  for (const [column, field] of Object.entries(columns)) {
    const [, type, name] = /^(.*)\.([^.]+)$/.exec(field);
    note(resource, column, types[type]?.[name]);
  }
}

for (const [resource, columns] of Object.entries(said)) {
  for (const [column, text] of Object.entries(columns)) note(resource, column, text);
}

// What several kinds say of a column is said once.
const counts = new Map();
for (const columns of Object.values(descriptions)) {
  for (const [column, text] of Object.entries(columns)) {
    const key = JSON.stringify([column, text]);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
}
const common = {};
for (const [key, count] of counts) {
  const [column, text] = JSON.parse(key);
  // Kinds without columns of their own show when they were made.
  if (count > 2 || column === 'Created At') common[column] ??= text;
}
const own = Object.entries(descriptions).flatMap(([resource, columns]) => {
  const rest = Object.entries(columns).filter(([column, text]) => common[column] !== text);
  return rest.length === 0 ? [] : [[resource, Object.fromEntries(rest)]];
});
const tableOf = (columns) =>
  Object.entries(columns)
    .map(([column, text]) => `    ${JSON.stringify(column)}:\n      ${JSON.stringify(text)},`)
    .join('\n');
writeFileSync(
  new URL('../plane/apiserver/src/printers/column-descriptions.gen.ts', import.meta.url),
  `// Generated by scripts/generate-column-descriptions.mjs. Do not edit.

/** What the API says of columns: \`''\` what it says of a column of any resource, then what it says of one resource's. */
export const columnDescriptions: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '': {
${tableOf(common)}
  },
${own.map(([resource, columns]) => `  ${resource}: {\n${tableOf(columns)}\n  },`).join('\n')}
};
`,
);
console.log(`${Object.keys(descriptions).length} resources`);
