import type { KeyRange } from '@castellan/keyspace';
import type { ObjectKey } from '@castellan/machinery';

/** Where a resource's objects are in the keyspace. The layout is that of kube-apiserver, so that its tools find things. */
export interface KeyLayout {
  /** `/registry/pods/`: ends in a slash. */
  readonly prefix: string;
  readonly isNamespaced: boolean;
}

const historicPrefixes: Readonly<Record<string, string>> = {
  services: 'services/specs',
  endpoints: 'services/endpoints',
  nodes: 'minions',
};
const groupsWithOwnPrefix: readonly string[] = ['apiextensions.k8s.io', 'apiregistration.k8s.io'];

export function builtinPrefix(group: string, plural: string): string {
  const resource = historicPrefixes[plural] ?? plural;
  return groupsWithOwnPrefix.includes(group) ? `/registry/${group}/${resource}/` : `/registry/${resource}/`;
}

export function customPrefix(group: string, plural: string): string {
  return `/registry/${group}/${plural}/`;
}

export function storageKey(layout: KeyLayout, key: ObjectKey): string {
  return layout.isNamespaced ? `${layout.prefix}${key.namespace ?? ''}/${key.name}` : `${layout.prefix}${key.name}`;
}

/** All objects of a resource, or those of one namespace. */
export function collectionPrefix(layout: KeyLayout, namespace: string | undefined): string {
  return namespace === undefined || !layout.isNamespaced ? layout.prefix : `${layout.prefix}${namespace}/`;
}

/** Keys that begin with `prefix`. Every prefix here ends in '/', whose successor is '0'. */
export function rangeOfPrefix(prefix: string): KeyRange {
  const last = prefix.charCodeAt(prefix.length - 1);
  return { start: prefix, end: prefix.slice(0, -1) + String.fromCharCode(last + 1) };
}
