import { isRecord, withChanges } from '../value/record.js';
import { childPath } from './check.js';
import type { JsonSchema } from './json-schema.js';

export interface Pruned<T = unknown> {
  /** The same value where nothing was dropped; else a new one that shares what it can. */
  readonly value: T;
  /** What was dropped, sorted: `spec.foo`, `spec.members[0].bar`. */
  readonly droppedPaths: readonly string[];
}

/**
 * Drops what the schema does not know. `apiVersion`, `kind` and `metadata` of an embedded resource are known without
 * being declared, and the fields of its metadata are those of Kubernetes.
 */
export function prune<T>(schema: JsonSchema, value: T): Pruned<T>;
export function prune(schema: JsonSchema, value: unknown): Pruned {
  const droppedPaths: string[] = [];
  const kept = pruneValue(schema, value, { path: '', isKeeping: false, drop: (path) => droppedPaths.push(path) });
  return { value: kept, droppedPaths: droppedPaths.sort() };
}

interface Pruning {
  readonly path: string;
  /** Within `x-kubernetes-preserve-unknown-fields`: what is not declared is kept; what is, follows its own schema. */
  readonly isKeeping: boolean;
  readonly drop: (path: string) => void;
}

const resourceFields: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);

const metadataFields: ReadonlySet<string> = new Set([
  'annotations',
  'creationTimestamp',
  'deletionGracePeriodSeconds',
  'deletionTimestamp',
  'finalizers',
  'generateName',
  'generation',
  'labels',
  'managedFields',
  'name',
  'namespace',
  'ownerReferences',
  'resourceVersion',
  'selfLink',
  'uid',
]);

/** `schema` is absent under `additionalProperties: true` and items without a schema, where scalars only are known. */
function pruneValue(schema: JsonSchema | undefined, value: unknown, pruning: Pruning): unknown {
  const isKeeping = pruning.isKeeping || schema?.['x-kubernetes-preserve-unknown-fields'] === true;
  if (Array.isArray(value)) return pruneItems(schema, value, { ...pruning, isKeeping });
  if (!isRecord(value) || (schema === undefined && isKeeping)) return value;
  const changes = new Map<string, unknown>();
  for (const [name, before] of Object.entries(value)) {
    const path = childPath(pruning.path, name);
    const after = pruneMember(schema, name, before, { path, isKeeping, drop: pruning.drop });
    if (after === undefined) pruning.drop(path);
    if (after !== before) changes.set(name, after);
  }
  return withChanges(value, changes);
}

function pruneItems(schema: JsonSchema | undefined, list: readonly unknown[], pruning: Pruning): readonly unknown[] {
  const after = list.map((item, index) =>
    pruneValue(schema?.items, item, { ...pruning, path: `${pruning.path}[${index}]` }),
  );
  return after.some((item, index) => item !== list[index]) ? after : list;
}

/** What is kept of one member; `undefined` when it is to go. */
function pruneMember(schema: JsonSchema | undefined, name: string, value: unknown, pruning: Pruning): unknown {
  if (schema?.['x-kubernetes-embedded-resource'] && resourceFields.has(name)) {
    return name === 'metadata' ? pruneMetadata(value, pruning) : value;
  }
  const properties = schema?.properties ?? {};
  const declared: Pruning = { ...pruning, isKeeping: false };
  if (Object.hasOwn(properties, name)) return pruneValue(properties[name], value, declared);
  const others = schema?.additionalProperties;
  if (others !== undefined) return pruneValue(typeof others === 'object' ? others : undefined, value, declared);
  return pruning.isKeeping ? value : undefined;
}

function pruneMetadata(value: unknown, pruning: Pruning): unknown {
  if (!isRecord(value)) return value;
  const unknownNames = Object.keys(value).filter((name) => !metadataFields.has(name));
  for (const name of unknownNames) pruning.drop(childPath(pruning.path, name));
  return withChanges(value, new Map(unknownNames.map((name) => [name, undefined])));
}
