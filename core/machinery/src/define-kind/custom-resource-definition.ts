import type {
  CustomResourceDefinition,
  CustomResourceDefinitionVersion,
  CustomResourceSubresources,
} from '../kinds/custom-resource-definition.js';
import type { JsonSchema } from '../schema/json-schema.js';
import type { AnyDefinition, NamedVersion } from './kind-definition.js';
import { type Column, printerColumn } from './printer-columns.js';
import { conditionsSchema, observedGenerationSchema } from './well-known-schemas.js';

/** The CustomResourceDefinition of a kind: its own version first, which is the one that objects are stored in. */
export function definitionOf(definition: AnyDefinition, older: readonly NamedVersion[]): CustomResourceDefinition {
  const { group, version, kind, plural = pluralOf(kind), shortNames = [], categories = [] } = definition;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      names: {
        kind,
        listKind: `${kind}List`,
        plural,
        singular: definition.singular ?? kind.toLowerCase(),
        ...(shortNames.length === 0 ? {} : { shortNames }),
        ...(categories.length === 0 ? {} : { categories }),
      },
      scope: definition.scope ?? 'Namespaced',
      versions: [
        versionOf({ ...definition, version, isStored: true }),
        ...older.map((each) => versionOf({ ...each.older, version: each.version, isStored: false })),
      ],
    },
  };
}

interface VersionParts extends Partial<Omit<AnyDefinition, 'version' | 'spec'>>, Pick<AnyDefinition, 'spec'> {
  readonly version: string;
  readonly isStored: boolean;
  readonly isServed?: boolean;
  readonly deprecated?: true | string;
}

function versionOf(parts: VersionParts): CustomResourceDefinitionVersion {
  const schema = objectSchemaOf(parts);
  const { deprecated, columns = [], selectableFields = [] } = parts;
  const subresources = subresourcesOf(parts);
  return {
    name: parts.version,
    served: parts.isServed ?? true,
    storage: parts.isStored,
    ...(deprecated === undefined ? {} : { deprecated: true }),
    ...(typeof deprecated === 'string' ? { deprecationWarning: deprecated } : {}),
    ...(subresources === undefined ? {} : { subresources }),
    ...(columns.length === 0
      ? {}
      : { additionalPrinterColumns: columns.map((column: Column) => printerColumn(column, schema)) }),
    ...(selectableFields.length === 0 ? {} : { selectableFields: selectableFields.map((jsonPath) => ({ jsonPath })) }),
    schema: { openAPIV3Schema: schema },
  };
}

function subresourcesOf({ status, scale }: VersionParts): CustomResourceSubresources | undefined {
  if (status === undefined && scale === undefined) return undefined;
  return { ...(status === undefined ? {} : { status: {} }), ...(scale === undefined ? {} : { scale }) };
}

function objectSchemaOf({ description, spec, status, rules = [] }: VersionParts): JsonSchema {
  const text: JsonSchema = { type: 'string' };
  return {
    type: 'object',
    ...(description === undefined ? {} : { description }),
    ...(spec.presence === 'required' ? { required: ['spec'] } : {}),
    properties: {
      apiVersion: text,
      kind: text,
      metadata: { type: 'object' },
      spec: spec.json,
      ...(status === undefined ? {} : { status: statusJson(status.json) }),
    },
    ...(rules.length === 0 ? {} : { 'x-kubernetes-validations': rules }),
  };
}

/** Where a status is written without them in its schema, the API server would drop them, and the runtime write them again. */
function statusJson(json: JsonSchema): JsonSchema {
  if (json.properties === undefined) return json;
  const kept = { observedGeneration: observedGenerationSchema().json, conditions: conditionsSchema().json };
  return { ...json, properties: { ...json.properties, ...missing(kept, json.properties) } };
}

function missing<T>(wanted: Readonly<Record<string, T>>, there: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(Object.entries(wanted).filter(([name]) => !Object.hasOwn(there, name)));
}

/** English plurals of regular nouns, in lower case. */
function pluralOf(kind: string): string {
  const name = kind.toLowerCase();
  if (/[^aeiou]y$/.test(name)) return `${name.slice(0, -1)}ies`;
  return /(?:s|x|z|ch|sh)$/.test(name) ? `${name}es` : `${name}s`;
}
