// Walk 1/10: an object of a manifest is sent to the API server: created, or changed where it differs.
import type { Client } from '@castellan/client';
import {
  isStatusError,
  type KubernetesObject,
  type ObjectKey,
  type ResourceType,
  resourceName,
} from '@castellan/machinery';
import { CliError } from '../errors.js';
import { mergePatch } from './merge-patch.js';
import type { ManifestObject } from './parse-manifest.js';

export type Applied = 'created' | 'configured' | 'unchanged';

/** kubectl keeps what it applied last here; with the same annotation, both programs can be used on one object. */
const lastAppliedAnnotation = 'kubectl.kubernetes.io/last-applied-configuration';
const fieldManager = 'castellan';

/** Creates the object, or changes what differs from what its manifest says. Unknown fields are refused. */
export async function applyObject(client: Client, type: ResourceType, object: ManifestObject): Promise<Applied> {
  const key = keyIn(type, object);
  const wanted = withLastApplied({ ...object, metadata: { ...object.metadata, ...key } });
  try {
    const live = await client.find(type, key);
    if (live === undefined) {
      await client.create(type, wanted, { fieldManager, fieldValidation: 'Strict' });
      return 'created';
    }
    const body = mergePatch(lastApplied(live), { ...wanted }, live);
    if (body === undefined) return 'unchanged';
    await client.patch(type, key, { type: 'merge', body }, { fieldManager, fieldValidation: 'Strict' });
    return isOnlyNote(body) ? 'unchanged' : 'configured';
  } catch (error) {
    throw refusalOf(error, type, key);
  }
}

/** `etcdcluster.etcd.database.coreos.com/example`: as kubectl names what it applied. */
export function nameForPeople(type: ResourceType, object: ManifestObject): string {
  const name = resourceName({ group: type.group, plural: type.kind.toLowerCase() });
  return `${name}/${object.metadata.name}`;
}

function keyIn(type: ResourceType, object: ManifestObject): ObjectKey & { readonly name: string } {
  const { name, namespace = 'default' } = object.metadata;
  return type.isNamespaced ? { namespace, name } : { name };
}

function withLastApplied(object: ManifestObject): ManifestObject {
  const { annotations } = object.metadata;
  const lastAppliedText = `${JSON.stringify(object)}\n`;
  const metadata = { ...object.metadata, annotations: { ...annotations, [lastAppliedAnnotation]: lastAppliedText } };
  return { ...object, metadata };
}

function lastApplied(live: KubernetesObject): unknown {
  const text = live.metadata.annotations?.[lastAppliedAnnotation];
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return undefined; // Not written by an apply: then nothing is known to be ours to remove.
  }
}

/** True when the patch changes only the record of what was applied, not the object. */
function isOnlyNote(patch: Readonly<Record<string, unknown>>): boolean {
  const changed = Object.entries(patch).flatMap(([name, value]) => paths(name, value));
  return changed.length === 1 && changed[0] === `metadata.annotations.${lastAppliedAnnotation}`;
}

function paths(at: string, value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [at];
  return Object.entries(value).flatMap(([name, inner]) => paths(`${at}.${name}`, inner));
}

/** A refusal with one line per field; anything else as it is. */
function refusalOf(error: unknown, type: ResourceType, key: ObjectKey): unknown {
  if (!isStatusError(error) || error.reason === 'NotFound') return error;
  const causes = error.status.details?.causes ?? [];
  const lines = causes.map(({ field, message }) =>
    field === undefined ? (message ?? '') : `${field}: ${message ?? ''}`,
  );
  const what = `${type.kind} "${key.name}" was refused`;
  const text =
    lines.length === 0 ? `${what}: ${error.message}` : `${what}:\n${lines.map((line) => `  ${line}`).join('\n')}`;
  return new CliError('REFUSED', text, { cause: error });
}
