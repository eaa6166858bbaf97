import type { KubernetesObject } from './object.js';

/**
 * One resource of one API version, and the TypeScript type of its objects. `T` exists at compile time only.
 * `group` is '' for the core group.
 */
export interface ResourceType<T extends KubernetesObject = KubernetesObject> {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly isNamespaced: boolean;
  readonly objectType?: T;
}

export function apiVersionOf(type: { readonly group: string; readonly version: string }): string {
  return type.group === '' ? type.version : `${type.group}/${type.version}`;
}

/** `pods`, `etcdclusters.etcd.database.coreos.com`: a resource's name for people and for CRD names. */
export function resourceName(type: { readonly group: string; readonly plural: string }): string {
  return type.group === '' ? type.plural : `${type.plural}.${type.group}`;
}

/** The URL path of a collection (no `name`) or of an object, with an optional subresource. */
export function resourcePath(
  type: ResourceType,
  at: { readonly namespace?: string; readonly name?: string; readonly subresource?: string } = {},
): string {
  const base = type.group === '' ? `/api/${type.version}` : `/apis/${type.group}/${type.version}`;
  const scope = at.namespace === undefined ? '' : `/namespaces/${encodeURIComponent(at.namespace)}`;
  const name = at.name === undefined ? '' : `/${encodeURIComponent(at.name)}`;
  const subresource = at.subresource === undefined ? '' : `/${at.subresource}`;
  return `${base}${scope}/${type.plural}${name}${subresource}`;
}
