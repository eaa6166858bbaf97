import type { KubernetesObject } from '../object.js';
import { withDefaults } from '../schema/defaults.js';
import type { JsonSchema } from '../schema/json-schema.js';
import type { NamedVersion } from './kind-definition.js';

export interface Versions {
  readonly group: string;
  /** The version that all others are converted through. */
  readonly hub: string;
  readonly older: readonly NamedVersion[];
  schemaOf(version: string): JsonSchema;
}

/** From any version to any other, through the hub. Each function is given an object with the defaults of its version. */
export function convertObject(object: KubernetesObject, wanted: string, versions: Versions): KubernetesObject {
  const { group, hub } = versions;
  const apiVersion = object.apiVersion ?? '';
  const from = apiVersion.slice(group.length + 1);
  for (const version of [from, wanted]) {
    if (!apiVersion.startsWith(`${group}/`) || !isKnown(version, versions)) {
      const known = [hub, ...versions.older.map((each) => each.version)].map((each) => `${group}/${each}`);
      throw new Error(
        `cannot convert ${apiVersion === '' ? 'an object without apiVersion' : apiVersion} to ${group}/${wanted}: the kind's versions are ${known.join(', ')}`,
      );
    }
  }
  if (from === wanted) return object;
  const defaulted = withDefaults(versions.schemaOf(from), object);
  const inHub =
    from === hub ? defaulted : inVersion(hub, defaulted, olderOf(from, versions)?.toHub(defaulted), versions);
  if (wanted === hub) return inHub;
  return inVersion(wanted, inHub, olderOf(wanted, versions)?.fromHub(inHub), versions);
}

function isKnown(version: string, versions: Versions): boolean {
  return version === versions.hub || olderOf(version, versions) !== undefined;
}

function olderOf(version: string, { older }: Versions): NamedVersion['older'] | undefined {
  return older.find((each) => each.version === version)?.older;
}

type Parts = ReturnType<NamedVersion['older']['toHub']> | undefined;

function inVersion(version: string, before: KubernetesObject, parts: Parts, versions: Versions): KubernetesObject {
  const { metadata = {}, ...rest } = parts ?? {};
  const { labels, annotations } = metadata;
  const converted: KubernetesObject = {
    apiVersion: `${versions.group}/${version}`,
    ...(before.kind === undefined ? {} : { kind: before.kind }),
    metadata: {
      ...before.metadata,
      ...(labels === undefined ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations }),
    },
    ...rest,
  };
  return withDefaults(versions.schemaOf(version), converted);
}
