import { createHash } from 'node:crypto';
import { apiVersionOf } from '@castellan/machinery';
import type { ResourceDefinition } from '../registry/resource.js';
import type { ApiGroup, ApiVersion } from './groups.js';

/** `/api` */
export function apiVersions(serverAddress: string) {
  return {
    kind: 'APIVersions',
    versions: ['v1'],
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress }],
  };
}

/** `/apis` */
export function apiGroupList(groups: readonly ApiGroup[]) {
  return {
    kind: 'APIGroupList',
    apiVersion: 'v1',
    groups: groups.filter(({ name }) => name !== '').map(apiGroup),
  };
}

export function apiGroup({ name, versions }: ApiGroup) {
  const offered = versions.map(({ version }) => ({ groupVersion: `${name}/${version}`, version }));
  return { name, versions: offered, preferredVersion: offered[0] };
}

/** `/api/v1`, `/apis/GROUP/VERSION` */
export function apiResourceList(group: string, { version, resources }: ApiVersion) {
  return {
    kind: 'APIResourceList',
    ...(group === '' ? {} : { apiVersion: 'v1' }),
    groupVersion: apiVersionOf({ group, version }),
    resources: resources.flatMap(apiResources),
  };
}

function apiResources(definition: ResourceDefinition) {
  const { plural, singular, isNamespaced, kind, verbs, shortNames, categories } = definition;
  const own = {
    name: plural,
    singularName: singular,
    namespaced: isNamespaced,
    kind,
    verbs,
    ...(shortNames.length === 0 ? {} : { shortNames }),
    ...(categories.length === 0 ? {} : { categories }),
    ...(verbs.includes('get') && verbs.includes('create')
      ? { storageVersionHash: storageVersionHash(definition) }
      : {}),
  };
  const below = definition.subresources.map((subresource) => ({
    name: `${plural}/${subresource.name}`,
    singularName: '',
    namespaced: isNamespaced,
    ...(subresource.version === undefined ? {} : { group: subresource.group, version: subresource.version }),
    kind: subresource.kind,
    verbs: subresource.verbs,
  }));
  return [own, ...below];
}

/**
 * Kinds that Kubernetes 1.36 stores under another group or version than they are asked for: the hash is of the stored one.
 */
const storedElsewhere: Readonly<Record<string, string>> = {
  'autoscaling/v1/HorizontalPodAutoscaler': 'autoscaling/v2',
  'admissionregistration.k8s.io/v1/MutatingAdmissionPolicy': 'admissionregistration.k8s.io/v1beta1',
  'admissionregistration.k8s.io/v1/MutatingAdmissionPolicyBinding': 'admissionregistration.k8s.io/v1beta1',
  'apiextensions.k8s.io/v1/CustomResourceDefinition': 'apiextensions.k8s.io/v1beta1',
  'events.k8s.io/v1/Event': '/v1',
};

/** Clients compare it to see that objects must be rewritten. Source: apiserver's StorageVersionHash. */
function storageVersionHash({ group, version, kind }: ResourceDefinition): string {
  const asked = `${group}/${version}`;
  const stored = storedElsewhere[`${asked}/${kind}`] ?? asked;
  return createHash('sha256').update(`${stored}/${kind}`).digest().subarray(0, 8).toString('base64');
}
