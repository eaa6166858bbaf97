import { define } from '../registry/define.js';
import type { ResourceDefinition } from '../registry/resource.js';
import { reviewKinds } from '../request/review-kinds.js';
import type { Server } from '../request/server.js';
import { usageKinds } from '../usage/usage-kinds.js';
import { compareVersions } from './version-order.js';

export interface ApiGroup {
  readonly name: string;
  /** The preferred version first. */
  readonly versions: readonly ApiVersion[];
}

export interface ApiVersion {
  readonly version: string;
  readonly resources: readonly ResourceDefinition[];
}

/** The built-in groups in the order in which clients should prefer them; those of custom resources follow. */
const groupOrder: readonly string[] = [
  '',
  'apiregistration.k8s.io',
  'apps',
  'events.k8s.io',
  'authentication.k8s.io',
  'authorization.k8s.io',
  'autoscaling',
  'batch',
  'certificates.k8s.io',
  'networking.k8s.io',
  'policy',
  'rbac.authorization.k8s.io',
  'storage.k8s.io',
  'admissionregistration.k8s.io',
  'apiextensions.k8s.io',
  'scheduling.k8s.io',
  'coordination.k8s.io',
  'node.k8s.io',
  'discovery.k8s.io',
  'resource.k8s.io',
  'flowcontrol.apiserver.k8s.io',
];

export function isBuiltInGroup(name: string): boolean {
  return groupOrder.includes(name);
}

/** What the server answers for: what it stores, and what it asks its nodes for. */
export async function servedGroups({ registry, usage }: Server): Promise<readonly ApiGroup[]> {
  return groupsOf([...(await registry.definitions()), ...(usage === undefined ? [] : usageKinds)]);
}

/** Definitions by group and version, in the order in which clients should prefer them. */
export function groupsOf(definitions: readonly ResourceDefinition[]): readonly ApiGroup[] {
  const groups = new Map<string, Map<string, ResourceDefinition[]>>();
  for (const definition of [...definitions, ...askedDefinitions]) {
    const versions = groups.get(definition.group) ?? new Map<string, ResourceDefinition[]>();
    groups.set(definition.group, versions);
    const resources = versions.get(definition.version) ?? [];
    versions.set(definition.version, resources);
    resources.push(definition);
  }
  return [...groups]
    .map(([name, versions]) => ({
      name,
      versions: [...versions]
        .map(([version, resources]) => ({ version, resources: resources.sort(byName) }))
        .sort((left, right) => compareVersions(left.version, right.version)),
    }))
    .sort(byOrder);
}

/** Kinds that nothing is stored of. */
const askedDefinitions = [
  ...reviewKinds.map((kind) => define({ ...kind, verbs: ['create'] })),
  define({ version: 'v1', kind: 'Binding', plural: 'bindings', isNamespaced: true, verbs: ['create'] }),
];

/** Groups of custom resources by name. */
function byOrder(left: ApiGroup, right: ApiGroup): number {
  const [a, b] = [groupOrder.indexOf(left.name), groupOrder.indexOf(right.name)];
  if (a >= 0 && b >= 0) return a - b;
  if (a >= 0 || b >= 0) return a >= 0 ? -1 : 1;
  return left.name < right.name ? -1 : 1;
}

function byName(left: ResourceDefinition, right: ResourceDefinition): number {
  return left.plural < right.plural ? -1 : 1;
}
