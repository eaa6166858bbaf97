import { define } from '../registry/define.js';
import type { ResourceDefinition } from '../registry/resource.js';
import { reviewKinds } from '../request/review-kinds.js';

export interface ApiGroup {
  readonly name: string;
  /** The preferred version first. */
  readonly versions: readonly ApiVersion[];
}

export interface ApiVersion {
  readonly version: string;
  readonly resources: readonly ResourceDefinition[];
}

/** Definitions by group and version, in the order in which clients should prefer them. */
export function groupsOf(definitions: readonly ResourceDefinition[]): readonly ApiGroup[] {
  const groups = new Map<string, Map<string, ResourceDefinition[]>>();
  for (const definition of [...definitions, ...reviewDefinitions]) {
    const versions = groups.get(definition.group) ?? new Map<string, ResourceDefinition[]>();
    groups.set(definition.group, versions);
    const resources = versions.get(definition.version) ?? [];
    versions.set(definition.version, resources);
    resources.push(definition);
  }
  return [...groups].map(([name, versions]) => ({
    name,
    versions: [...versions]
      .map(([version, resources]) => ({ version, resources: resources.sort(byName) }))
      .sort((left, right) => compareVersions(left.version, right.version)),
  }));
}

const reviewDefinitions = reviewKinds.map((kind) => define({ ...kind, verbs: ['create'] }));

function byName(left: ResourceDefinition, right: ResourceDefinition): number {
  return left.plural < right.plural ? -1 : 1;
}

/** v2 before v1 before v1beta1 before v1alpha1 before any other name. Source: apimachinery's version priority. */
function compareVersions(left: string, right: string): number {
  const [a, b] = [rank(left), rank(right)];
  for (let index = 0; index < a.length; index += 1) {
    const difference = (b[index] ?? 0) - (a[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return left < right ? -1 : left > right ? 1 : 0;
}

function rank(version: string): readonly number[] {
  const match = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version);
  if (match === null) return [0, 0, 0];
  const stability = match[2] === undefined ? 3 : match[2] === 'beta' ? 2 : 1;
  return [stability, Number(match[1]), Number(match[3] ?? 0)];
}
