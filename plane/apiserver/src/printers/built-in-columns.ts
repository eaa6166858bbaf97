import { type ApiObject, at, count, list, record, records, text } from '../json.js';
import { accessModesText } from './access-modes.js';
import { age, createdAt, nameAndAge, nameOf } from './cells.js';
import { type Column, column } from './column.js';
import { eventColumns } from './event-columns.js';
import { podColumns } from './pod-columns.js';

const none = '<none>';
const unknown = '<unknown>';
/** kubectl shows so many endpoints and says how many more there are. */
const shownEndpoints = 3;

const name = column('Name', nameOf, { format: 'name' });
const ageColumn = column('Age', age);

/** kubectl's columns of the built-in kinds. Source: kubectl's output for each kind. */
export const columnsOf = {
  namespaces: [name, column('Status', (object) => text(at(object, 'status', 'phase')) ?? ''), ageColumn],
  pods: podColumns,
  services: [
    name,
    column('Type', (object) => text(at(object, 'spec', 'type')) ?? ''),
    column('Cluster-IP', (object) => text(at(object, 'spec', 'clusterIP')) ?? none),
    column('External-IP', externalAddresses),
    column('Port(s)', (object) => orNone(records(at(object, 'spec', 'ports')).map(servicePort))),
    ageColumn,
    column('Selector', (object) => labelsText(at(object, 'spec', 'selector')), { priority: 1 }),
  ],
  endpoints: [name, column('Endpoints', endpointsText), ageColumn],
  configmaps: [name, column('Data', dataCount), ageColumn],
  secrets: [name, column('Type', (object) => text(object.type) ?? ''), column('Data', dataCount), ageColumn],
  serviceaccounts: nameAndAge,
  events: eventColumns,
  nodes: [
    name,
    column('Status', nodeStatus),
    column('Roles', nodeRoles),
    ageColumn,
    column('Version', (object) => text(at(object, 'status', 'nodeInfo', 'kubeletVersion')) ?? ''),
    column('Internal-IP', (object) => nodeAddress(object, 'InternalIP'), { priority: 1 }),
    column('External-IP', (object) => nodeAddress(object, 'ExternalIP'), { priority: 1 }),
    column('OS-Image', (object) => nodeInfo(object, 'osImage'), { priority: 1 }),
    column('Kernel-Version', (object) => nodeInfo(object, 'kernelVersion'), { priority: 1 }),
    column('Container-Runtime', (object) => nodeInfo(object, 'containerRuntimeVersion'), { priority: 1 }),
  ],
  persistentvolumeclaims: [
    name,
    column('Status', claimStatus),
    column('Volume', (object) => text(at(object, 'spec', 'volumeName')) ?? ''),
    column('Capacity', (object) => text(at(object, 'status', 'capacity', 'storage')) ?? ''),
    column('Access Modes', accessModes),
    column('StorageClass', (object) => text(at(object, 'spec', 'storageClassName')) ?? ''),
    column('VolumeAttributesClass', (object) => text(at(object, 'spec', 'volumeAttributesClassName')) ?? '<unset>'),
    ageColumn,
    column('VolumeMode', (object) => text(at(object, 'spec', 'volumeMode')) ?? '<unset>', { priority: 1 }),
  ],
  leases: [name, column('Holder', (object) => text(at(object, 'spec', 'holderIdentity')) ?? ''), ageColumn],
  endpointslices: [
    name,
    column('AddressType', (object) => text(object.addressType) ?? ''),
    column('Ports', (object) =>
      shortened(
        records(object.ports).map(({ port }) => String(port ?? '*')),
        '<unset>',
      ),
    ),
    column('Endpoints', (object) =>
      shortened(
        records(object.endpoints).flatMap(({ addresses }) => list(addresses).map(String)),
        '<unset>',
      ),
    ),
    ageColumn,
  ],
  poddisruptionbudgets: [
    name,
    column('Min Available', (object) => String(at(object, 'spec', 'minAvailable') ?? 'N/A')),
    column('Max Unavailable', (object) => String(at(object, 'spec', 'maxUnavailable') ?? 'N/A')),
    column('Allowed Disruptions', (object) => count(at(object, 'status', 'disruptionsAllowed')) ?? 0, {
      type: 'integer',
    }),
    ageColumn,
  ],
  customresourcedefinitions: [name, column('Created At', createdAt, { type: 'date' })],
} satisfies Readonly<Record<string, readonly Column[]>>;

function orNone(parts: readonly string[]): string {
  return parts.length === 0 ? none : parts.join(',');
}

function shortened(parts: readonly string[], empty: string): string {
  if (parts.length === 0) return empty;
  const shown = parts.slice(0, shownEndpoints).join(',');
  return parts.length > shownEndpoints ? `${shown} + ${parts.length - shownEndpoints} more...` : shown;
}

function labelsText(labels: unknown): string {
  return orNone(Object.entries(record(labels)).map(([key, value]) => `${key}=${String(value)}`));
}

function dataCount(object: ApiObject): number {
  return Object.keys(record(object.data)).length + Object.keys(record(object.binaryData)).length;
}

function externalAddresses(service: ApiObject): string {
  const spec = record(service.spec);
  const external = list(spec.externalIPs).map(String);
  if (spec.type === 'ExternalName') return text(spec.externalName) ?? none;
  if (spec.type !== 'LoadBalancer') return orNone(external);
  const assigned = records(at(service, 'status', 'loadBalancer', 'ingress')).map((ingress) =>
    String(ingress.ip ?? ingress.hostname ?? ''),
  );
  const all = [...assigned, ...external];
  return all.length === 0 ? '<pending>' : all.join(',');
}

function servicePort({ port, nodePort, protocol }: Readonly<Record<string, unknown>>): string {
  return nodePort === undefined || nodePort === 0 ? `${port}/${protocol}` : `${port}:${nodePort}/${protocol}`;
}

function endpointsText(endpoints: ApiObject): string {
  const addresses = records(endpoints.subsets).flatMap((subset) => {
    const ports = records(subset.ports);
    return records(subset.addresses).flatMap(({ ip }) =>
      ports.length === 0 ? [String(ip)] : ports.map(({ port }) => `${String(ip)}:${String(port)}`),
    );
  });
  return shortened(addresses, none);
}

function nodeStatus(node: ApiObject): string {
  const condition = records(at(node, 'status', 'conditions')).find(({ type }) => type === 'Ready');
  const readiness = condition === undefined ? 'Unknown' : condition.status === 'True' ? 'Ready' : 'NotReady';
  return at(node, 'spec', 'unschedulable') === true ? `${readiness},SchedulingDisabled` : readiness;
}

const roleLabel = 'node-role.kubernetes.io/';

function nodeRoles(node: ApiObject): string {
  const roles = Object.keys(node.metadata.labels ?? {})
    .filter((label) => label.startsWith(roleLabel))
    .map((label) => label.slice(roleLabel.length));
  return orNone(roles.sort());
}

function nodeAddress(node: ApiObject, wanted: string): string {
  const found = records(at(node, 'status', 'addresses')).find(({ type }) => type === wanted);
  return text(found?.address) ?? none;
}

function nodeInfo(node: ApiObject, field: string): string {
  return text(at(node, 'status', 'nodeInfo', field)) || unknown;
}

function claimStatus(claim: ApiObject): string {
  return claim.metadata.deletionTimestamp === undefined ? (text(at(claim, 'status', 'phase')) ?? '') : 'Terminating';
}

function accessModes(claim: ApiObject): string {
  if (text(at(claim, 'spec', 'volumeName')) === undefined) return '';
  return accessModesText(at(claim, 'status', 'accessModes'));
}
