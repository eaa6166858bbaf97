import { isRecord, record } from '../json.js';
import type { ResourceDefinition } from '../registry/resource.js';
import { versionInfo } from '../request/version.js';
import { objectType, typeNameOf } from '../types/field-types.js';
import { builtInSchemas, schemaName } from './built-in-schemas.js';
import { type Descriptions, memberTexts, readDescriptions } from './descriptions.js';
import type { ApiGroup, ApiVersion } from './groups.js';
import type { GroupVersionKind, TypeReference } from './openapi-operations.js';
import { discoveryPath, type PathItem, pathsOf } from './openapi-paths.js';

type Schema = Readonly<Record<string, unknown>>;

/** Paths, and the schemas of all that they speak of, for one or more groups; not yet in the form of OpenAPI v2 or v3. */
export interface ApiDescription {
  readonly title: string;
  readonly version: string;
  readonly paths: readonly PathItem[];
  readonly schemas: Readonly<Record<string, Schema>>;
  readonly descriptions: Descriptions;
  /** The name of a type's schema. */
  nameOf(type: TypeReference): string;
}

/** What a document is to be of. */
interface AskedPaths {
  readonly groups: readonly ApiGroup[];
  /** Paths that belong to no group's version. */
  readonly fixed: readonly PathItem[];
}

/**
 * What OpenAPI documents say of some groups' versions. The tables behind it are large: this module is loaded with the first
 * document. `all` are the server's groups: a document also has kinds of others that stand within its own.
 */
export function describeApi({ groups: asked, fixed }: AskedPaths, all: readonly ApiGroup[]): ApiDescription {
  const descriptions = readDescriptions();
  const versions = asked.flatMap((group) => group.versions.map((version) => ({ group: group.name, version })));
  const definitions = versions.flatMap(({ version }) => version.resources).filter(({ verbs }) => verbs.length > 0);
  const isCustom = definitions.length > 0 && definitions.every((definition) => definition.isCustom);
  const paths = [...fixed, ...versions.flatMap(({ group, version }) => pathsOfVersion(group, version))];
  const custom = new Map(
    definitions
      .filter((definition) => definition.isCustom)
      .flatMap((definition) => [definition.kind, definition.listKind].map((kind) => [gvkKey(definition, kind), kind])),
  );
  const nameOf = (type: TypeReference): string => {
    if (typeof type === 'string') return schemaName(type);
    return custom.has(gvkKey(type, type.kind)) ? customName(type, type.kind) : schemaName(typeNameOf(type));
  };
  const used = paths.flatMap(({ operations }) =>
    operations.flatMap(({ body, responses }) => [body?.type, ...responses.map(({ type }) => type)]),
  );
  const needed = used.flatMap((type) => {
    if (type === undefined) return [];
    return typeof type === 'string' ? [type] : [typeNameOf(type)];
  });
  const kinds = kindsOf(all);
  const metadata = definitions.length === 0 ? [] : ['meta/v1.ListMeta', 'meta/v1.ObjectMeta'];
  const own = builtInSchemas([...needed, ...metadata], descriptions.types);
  return {
    title: isCustom ? 'Kubernetes CRD Swagger' : 'Kubernetes',
    version: isCustom ? 'v0.1.0' : versionInfo.gitVersion,
    paths,
    schemas: {
      ...Object.fromEntries(Object.entries(own).map(([name, schema]) => [name, withKinds(schema, kinds.get(name))])),
      ...Object.fromEntries(definitions.flatMap((definition) => kindSchemas(definition, descriptions))),
    },
    descriptions,
    nameOf,
  };
}

function pathsOfVersion(group: string, { version, resources }: ApiVersion): readonly PathItem[] {
  const kinds = resources.filter(({ verbs }) => verbs.length > 0);
  const isBuiltIn = kinds.some((definition) => !definition.isCustom);
  return [...(isBuiltIn ? [discoveryPath(group, version)] : []), ...kinds.flatMap(pathsOf)];
}

/** Which kinds each built-in schema is of: those of definitions and of their subresources. */
function kindsOf(groups: readonly ApiGroup[]): ReadonlyMap<string, GroupVersionKind> {
  const definitions = groups.flatMap(({ versions }) => versions.flatMap(({ resources }) => resources));
  const kinds = definitions
    .filter(({ isCustom }) => !isCustom)
    .flatMap(({ group, version, kind, subresources }) => [
      { group, version, kind },
      ...subresources.map((below) => ({
        group: below.group ?? group,
        version: below.version ?? version,
        kind: below.kind,
      })),
    ]);
  const ofDocuments = ['Status', 'DeleteOptions'].map(
    (kind) => [schemaName(`meta/v1.${kind}`), { group: '', version: 'v1', kind }] as const,
  );
  return new Map([...kinds.map((kind) => [schemaName(typeNameOf(kind)), kind] as const), ...ofDocuments]);
}

function withKinds(schema: Schema, kind: GroupVersionKind | undefined): Schema {
  return kind === undefined ? schema : { ...schema, ...kindExtension(kind, kind.kind) };
}

function kindExtension({ group, version }: Pick<GroupVersionKind, 'group' | 'version'>, kind: string): Schema {
  return { 'x-kubernetes-group-version-kind': [{ group, kind, version }] };
}

/** A list's schema, and a custom kind's or that of a kind of which nothing is known. */
function kindSchemas(definition: ResourceDefinition, { types }: Descriptions): readonly (readonly [string, Schema])[] {
  const { kind, listKind, plural, isCustom, verbs } = definition;
  const typeName = typeNameOf(definition);
  const name = isCustom ? customName(definition, kind) : schemaName(typeName);
  const isKnown = !isCustom && objectType(typeName) !== undefined;
  const own = isKnown
    ? []
    : [[name, { ...openSchema(definition.schema), ...kindExtension(definition, kind) }] as const];
  if (!verbs.includes('list')) return own;
  const listName = isCustom
    ? customName(definition, listKind)
    : schemaName(typeNameOf({ ...definition, kind: listKind }));
  const list = {
    description: types[typeNameOf({ ...definition, kind: listKind })]?.[''] ?? `${listKind} is a list of ${kind}`,
    type: 'object',
    required: ['items'],
    properties: {
      ...members,
      items: { description: memberTexts.items(plural), type: 'array', items: reference(name) },
      metadata: {
        description: memberTexts.listMetadata,
        ...(isCustom ? {} : { default: {} }),
        allOf: [reference(schemaName('meta/v1.ListMeta'))],
      },
    },
    ...kindExtension(definition, listKind),
  };
  return [...own, [listName, list] as const];
}

const members = {
  apiVersion: { description: memberTexts.apiVersion, type: 'string' },
  kind: { description: memberTexts.kind, type: 'string' },
} as const;

/** The declared schema with what every object has; a kind without one has an open schema. */
function openSchema(schema: unknown): Schema {
  const declared = isRecord(schema) ? schema : { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const metadata = {
    description: memberTexts.metadata,
    allOf: [reference(schemaName('meta/v1.ObjectMeta'))],
  };
  return { ...declared, properties: { ...record(declared.properties), ...members, metadata } };
}

function reference(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` };
}

/** `com.example.v1.Widget`: the group's name from its end, as upstream has it. */
function customName({ group, version }: Pick<GroupVersionKind, 'group' | 'version'>, kind: string): string {
  return `${group.split('.').reverse().join('.')}.${version}.${kind}`;
}

function gvkKey({ group, version }: Pick<GroupVersionKind, 'group' | 'version'>, kind: string): string {
  return `${group}/${version}/${kind}`;
}
