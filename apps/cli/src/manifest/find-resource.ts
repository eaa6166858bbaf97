import type { Client } from '@castellan/client';
import type { ResourceType } from '@castellan/machinery';
import { CliError } from '../errors.js';
import { readText } from '../plane/connect-to-plane.js';
import type { ManifestObject } from './parse-manifest.js';

/** Asks the API server which resource serves an object's `apiVersion` and `kind`. */
export async function findResource(client: Client, { apiVersion, kind }: ManifestObject): Promise<ResourceType> {
  const slash = apiVersion.indexOf('/');
  const group = slash < 0 ? '' : apiVersion.slice(0, slash);
  const version = apiVersion.slice(slash + 1);
  const { status, text } = await readText(client, group === '' ? `/api/${version}` : `/apis/${group}/${version}`);
  const resources: unknown = status === 200 ? JSON.parse(text).resources : [];
  const found = Array.isArray(resources)
    ? resources.find((resource) => resource.kind === kind && !String(resource.name).includes('/'))
    : undefined;
  if (found === undefined) {
    const known = Array.isArray(resources) && resources.length > 0 ? `; ${apiVersion} has ${listKinds(resources)}` : '';
    throw new CliError('UNKNOWN_KIND', `The API server knows no ${kind} of ${apiVersion}${known}.`);
  }
  return { group, version, kind, plural: String(found.name), isNamespaced: found.namespaced === true };
}

function listKinds(resources: readonly unknown[]): string {
  const kinds = resources.flatMap((resource) =>
    typeof resource === 'object' && resource !== null && 'kind' in resource ? [String(resource.kind)] : [],
  );
  return [...new Set(kinds)].join(', ');
}
