import type { ResourceDefinition, SubresourceDefinition } from '../registry/resource.js';
import type { ApiGroup, ApiVersion } from './groups.js';

/** APIGroupDiscoveryList: all of `/api` or `/apis` in one document. Source: KEP-3352, version v2. */
export function aggregatedDiscovery(groups: readonly ApiGroup[]) {
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: 'apidiscovery.k8s.io/v2',
    metadata: {},
    items: groups.map(({ name, versions }) => ({
      metadata: name === '' ? {} : { name },
      versions: versions.map((version) => versionDiscovery(name, version)),
    })),
  };
}

function versionDiscovery(group: string, { version, resources }: ApiVersion) {
  return { version, resources: resources.map((resource) => resourceDiscovery(group, resource)), freshness: 'Current' };
}

function resourceDiscovery(group: string, definition: ResourceDefinition) {
  const { plural, kind, version, isNamespaced, singular, verbs, shortNames, categories, subresources } = definition;
  return {
    resource: plural,
    responseKind: { group, version, kind },
    scope: isNamespaced ? 'Namespaced' : 'Cluster',
    singularResource: singular,
    verbs,
    ...(shortNames.length === 0 ? {} : { shortNames }),
    ...(categories.length === 0 ? {} : { categories }),
    ...(subresources.length === 0
      ? {}
      : { subresources: subresources.map((subresource) => subresourceDiscovery(definition, subresource)) }),
  };
}

function subresourceDiscovery(parent: ResourceDefinition, subresource: SubresourceDefinition) {
  const { name, kind, verbs, group = parent.group, version = parent.version } = subresource;
  return { subresource: name, responseKind: { group, version, kind }, verbs };
}
