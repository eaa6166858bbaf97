import type { Keyspace } from '@castellan/keyspace';
import type { World } from '@castellan/world';
import { WatchCache } from '../cache/watch-cache.js';
import type { ValueTransformer } from '../encryption/value-transformer.js';
import type { ApiObject } from '../json.js';
import type { Column } from '../printers/column.js';
import { type ObjectCodec, objectCodec } from '../storage/codec.js';
import type { KeyLayout } from '../storage/keys.js';
import { createObjectStorage, type ObjectStorage } from '../storage/object-storage.js';
import type { ScalePaths } from './scale-paths.js';
import type { Strategy } from './strategy.js';

export type Verb = 'create' | 'delete' | 'deletecollection' | 'get' | 'list' | 'patch' | 'update' | 'watch';

export const allVerbs: readonly Verb[] = [
  'create',
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'update',
  'watch',
];

/** One resource of one API version: a row of the table of kinds, or what a CustomResourceDefinition says. */
export interface ResourceDefinition {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly listKind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly isNamespaced: boolean;
  readonly verbs: readonly Verb[];
  readonly subresources: readonly SubresourceDefinition[];
  readonly strategy: Strategy;
  /** Field selectors beyond metadata.name and metadata.namespace: label → path in the object. */
  readonly fieldLabels: Readonly<Record<string, readonly string[]>>;
  /** A change of anything but metadata and status adds one to metadata.generation. */
  readonly hasGeneration: boolean;
  /** A change of an annotation adds one to it too (Deployment). */
  readonly annotationsAreIntent?: boolean;
  /** PUT to a name that is not there creates it. */
  readonly createsOnUpdate: boolean;
  /** PUT without a resourceVersion is refused (custom resources). */
  readonly requiresVersionOnUpdate: boolean;
  /** DELETE replies with the object, not with a Status. */
  readonly returnsDeleted: boolean;
  readonly isCustom: boolean;
  readonly columns: readonly Column[];
  /** What clients that use the kind are warned of. */
  readonly deprecation?: string;
  /** Objects vanish so many seconds after they were written (events). */
  readonly timeToLiveSeconds?: number;
  /** Where a kind with a scale subresource keeps its replicas. */
  readonly scale?: ScalePaths;
  /** OpenAPI v3 schema of the kind; absent: any object. */
  readonly schema?: unknown;
  /** Changes whenever `schema` does (custom resources). */
  readonly schemaRevision?: string;
  /** Between this version and what is stored. Absent: the same. */
  fromStorage?(object: ApiObject): ApiObject;
  toStorage?(object: ApiObject): ApiObject | Promise<ApiObject>;
  /**
   * For kinds whose other versions are made by somebody else (a conversion webhook): once it has resolved, `fromStorage`
   * takes these objects. `undefined`: it takes them now.
   */
  makeReady?(stored: readonly ApiObject[]): Promise<void> | undefined;
  /** Removes or names what the schema does not know. Absent: nothing is known about fields. */
  prune?(object: ApiObject): { readonly object: ApiObject; readonly unknownFields: readonly string[] };
}

export interface SubresourceDefinition {
  readonly name: string;
  readonly kind: string;
  readonly verbs: readonly ('create' | 'delete' | 'get' | 'patch' | 'update')[];
  /** Where the subresource speaks another group's kind (Scale, Eviction). */
  readonly group?: string;
  readonly version?: string;
}

/** Where the objects of a resource are: shared by all its versions. */
export interface ResourceStore {
  readonly layout: KeyLayout;
  readonly storage: ObjectStorage;
  readonly cache: WatchCache;
  readonly codec: ObjectCodec;
}

export interface Resource {
  readonly definition: ResourceDefinition;
  readonly store: ResourceStore;
}

export function createResourceStore(options: {
  readonly keyspace: Keyspace;
  readonly world: World;
  readonly layout: KeyLayout;
  /** How the objects are sealed. */
  readonly values: ValueTransformer;
}): ResourceStore {
  const { keyspace, world, layout } = options;
  const codec = objectCodec(options.values);
  return {
    layout,
    codec,
    storage: createObjectStorage(keyspace, codec),
    cache: new WatchCache({ keyspace, world, prefix: layout.prefix, codec }),
  };
}

export function hasSubresource(definition: ResourceDefinition, name: string): boolean {
  return definition.subresources.some((subresource) => subresource.name === name);
}

/** As `present`, after the object was made ready for it. */
export async function presentReady(definition: ResourceDefinition, stored: ApiObject): Promise<ApiObject> {
  await definition.makeReady?.([stored]);
  return present(definition, stored);
}

/** An object of `makeReady`, or of a kind that knows none. */
export function present(definition: ResourceDefinition, stored: ApiObject): ApiObject {
  return definition.fromStorage === undefined ? stored : definition.fromStorage(stored);
}
