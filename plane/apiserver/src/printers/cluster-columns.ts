import { type ApiObject, at, count, list, record, records, text } from '../json.js';
import { accessModesText } from './access-modes.js';
import { age, createdAt, nameOf } from './cells.js';
import { type Column, column } from './column.js';
import { selectorText } from './selector-text.js';

const none = '<none>';
const unset = '<unset>';
const wide = { priority: 1 } as const;

const name = column('Name', nameOf, { format: 'name' });
const ageColumn = column('Age', age);

function words(title: string, path: readonly string[], absent = ''): Column {
  return column(title, (object) => text(at(object, ...path)) ?? absent);
}

/** kubectl's columns of the kinds that clusters are made of beside pods. Source: kubectl's output for each kind. */
export const clusterColumns = {
  persistentvolumes: [
    name,
    words('Capacity', ['spec', 'capacity', 'storage']),
    column('Access Modes', (object) => accessModesText(at(object, 'spec', 'accessModes'))),
    words('Reclaim Policy', ['spec', 'persistentVolumeReclaimPolicy']),
    column('Status', volumeStatus),
    column('Claim', claimOf),
    words('StorageClass', ['spec', 'storageClassName']),
    words('VolumeAttributesClass', ['spec', 'volumeAttributesClassName'], unset),
    words('Reason', ['status', 'reason']),
    ageColumn,
    column('VolumeMode', (object) => text(at(object, 'spec', 'volumeMode')) ?? unset, wide),
  ],
  resourcequotas: [
    name,
    column('Request', (object) => usedOf(object, (resource) => !resource.startsWith('limits.'))),
    column('Limit', (object) => usedOf(object, (resource) => resource.startsWith('limits.'))),
    ageColumn,
  ],
  limitranges: [name, column('Created At', createdAt, { type: 'date' })],
  ingresses: [
    name,
    words('Class', ['spec', 'ingressClassName'], none),
    column('Hosts', hostsOf),
    column('Address', (object) => loadBalancerText(at(object, 'status', 'loadBalancer', 'ingress'))),
    column('Ports', (object) => (list(at(object, 'spec', 'tls')).length > 0 ? '80, 443' : '80')),
    ageColumn,
  ],
  ingressclasses: [
    name,
    words('Controller', ['spec', 'controller']),
    column('Parameters', (object) => {
      const { apiGroup, kind, name: target } = record(at(object, 'spec', 'parameters'));
      if (kind === undefined) return none;
      return `${text(kind) ?? ''}${text(apiGroup) === undefined ? '' : `.${String(apiGroup)}`}/${text(target) ?? ''}`;
    }),
    ageColumn,
  ],
  networkpolicies: [
    name,
    column('Pod-Selector', (object) => selectorText(at(object, 'spec', 'podSelector'))),
    ageColumn,
  ],
  storageclasses: [
    column('Name', storageClassName, { format: 'name' }),
    words('Provisioner', ['provisioner']),
    words('ReclaimPolicy', ['reclaimPolicy'], 'Delete'),
    words('VolumeBindingMode', ['volumeBindingMode'], 'Immediate'),
    column('AllowVolumeExpansion', (object) => object.allowVolumeExpansion === true),
    ageColumn,
  ],
  priorityclasses: [
    name,
    column('Value', (object) => count(object.value) ?? 0, { type: 'integer' }),
    column('Global-Default', (object) => object.globalDefault === true, { type: 'boolean' }),
    ageColumn,
    words('PreemptionPolicy', ['preemptionPolicy'], ''),
  ],
  webhookconfigurations: [
    name,
    column('Webhooks', (object) => list(object.webhooks).length, { type: 'integer' }),
    ageColumn,
  ],
  validatingadmissionpolicies: [
    name,
    column('Validations', (object) => list(at(object, 'spec', 'validations')).length, { type: 'integer' }),
    column('ParamKind', paramKindOf),
    ageColumn,
  ],
  mutatingadmissionpolicies: [
    name,
    column('Mutations', (object) => list(at(object, 'spec', 'mutations')).length, { type: 'integer' }),
    column('ParamKind', paramKindOf),
    ageColumn,
  ],
  policybindings: [
    name,
    words('PolicyName', ['spec', 'policyName']),
    column('ParamRef', (object) => {
      const { name: target, namespace } = record(at(object, 'spec', 'paramRef'));
      if (target === undefined) return unset;
      return namespace === undefined ? String(target) : `${String(namespace)}/${String(target)}`;
    }),
    ageColumn,
  ],
  certificatesigningrequests: [
    name,
    ageColumn,
    words('SignerName', ['spec', 'signerName']),
    words('Requestor', ['spec', 'username']),
    column('RequestedDuration', (object) => {
      const seconds = count(at(object, 'spec', 'expirationSeconds'));
      return seconds === undefined ? none : `${seconds}s`;
    }),
    column('Condition', requestCondition),
  ],
} satisfies Readonly<Record<string, readonly Column[]>>;

function volumeStatus(volume: ApiObject): string {
  return volume.metadata.deletionTimestamp === undefined ? (text(at(volume, 'status', 'phase')) ?? '') : 'Terminating';
}

function claimOf(volume: ApiObject): string {
  const { namespace, name: claim } = record(at(volume, 'spec', 'claimRef'));
  return claim === undefined ? '' : `${text(namespace) ?? ''}/${text(claim) ?? ''}`;
}

/** `pods: 1/2, secrets: 0/5`, in order of names, for the resources that `isShown` takes. */
function usedOf(quota: ApiObject, isShown: (resource: string) => boolean): string {
  const { hard, used } = record(quota.status);
  return Object.keys(record(hard))
    .filter(isShown)
    .sort()
    .map((resource) => `${resource}: ${text(record(used)[resource]) ?? '0'}/${String(record(hard)[resource])}`)
    .join(', ');
}

const shownHosts = 3;

function hostsOf(ingress: ApiObject): string {
  const hosts = records(at(ingress, 'spec', 'rules')).map(({ host }) => text(host) ?? '');
  const named = hosts.filter((host) => host !== '');
  if (named.length === 0) return '*';
  const shown = named.slice(0, shownHosts).join(',');
  return named.length > shownHosts ? `${shown} + ${named.length - shownHosts} more...` : shown;
}

function loadBalancerText(ingress: unknown): string {
  return records(ingress)
    .map(({ ip, hostname }) => text(ip) ?? text(hostname) ?? '')
    .join(',');
}

const defaultClass = 'storageclass.kubernetes.io/is-default-class';

function storageClassName(storageClass: ApiObject): string {
  const isDefault = storageClass.metadata.annotations?.[defaultClass] === 'true';
  return isDefault ? `${nameOf(storageClass)} (default)` : nameOf(storageClass);
}

function paramKindOf(policy: ApiObject): string {
  const { apiVersion, kind } = record(at(policy, 'spec', 'paramKind'));
  return kind === undefined ? unset : `${text(apiVersion) ?? ''}/${text(kind) ?? ''}`;
}

function requestCondition(request: ApiObject): string {
  const types = records(at(request, 'status', 'conditions')).map(({ type }) => text(type) ?? '');
  const decided = ['Approved', 'Denied', 'Failed'].filter((type) => types.includes(type));
  const hasCertificate = (text(at(request, 'status', 'certificate')) ?? '') !== '';
  const parts = [...(decided.length === 0 ? ['Pending'] : decided), ...(hasCertificate ? ['Issued'] : [])];
  return parts.join(',');
}
