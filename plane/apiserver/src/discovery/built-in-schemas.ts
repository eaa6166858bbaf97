import { versionInfo } from '../request/version.js';
import { type FieldType, type ObjectType, objectType } from '../types/field-types.js';
import { newerNotes } from '../types/newer-notes.js';
import { schemaNotes } from '../types/schema-notes.gen.js';
import { type Descriptions, memberTexts } from './descriptions.js';

/** The OpenAPI schemas of built-in types, made of the table of their fields. Loaded with the first document. */
type Schema = Readonly<Record<string, unknown>>;

const packages: Readonly<Record<string, string>> = {
  apiextensions: 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions',
  apiregistration: 'io.k8s.kube-aggregator.pkg.apis.apiregistration',
  meta: 'io.k8s.apimachinery.pkg.apis.meta',
};

const scalars: Readonly<Record<string, Schema>> = {
  string: { type: 'string' },
  bool: { type: 'boolean' },
  int32: { type: 'integer', format: 'int32' },
  int64: { type: 'integer', format: 'int64' },
  double: { type: 'number', format: 'double' },
  bytes: { type: 'string', format: 'byte' },
};

/** Types whose JSON is not an object of their fields: the name of the schema, and the schema. */
const special: Readonly<Record<string, readonly [name: string, schema: Schema]>> = {
  Time: ['io.k8s.apimachinery.pkg.apis.meta.v1.Time', { type: 'string', format: 'date-time' }],
  MicroTime: ['io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime', { type: 'string', format: 'date-time' }],
  FieldsV1: ['io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1', { type: 'object' }],
  Quantity: ['io.k8s.apimachinery.pkg.api.resource.Quantity', { oneOf: [{ type: 'string' }, { type: 'number' }] }],
  IntOrString: [
    'io.k8s.apimachinery.pkg.util.intstr.IntOrString',
    { format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] },
  ],
  RawExtension: ['io.k8s.apimachinery.pkg.runtime.RawExtension', { type: 'object' }],
  VersionInfo: ['io.k8s.apimachinery.pkg.version.Info', {}],
  Json: ['io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON', {}],
};

/** Types of the documents themselves, which no object holds. */
const ofDocuments: Readonly<Record<string, { readonly schema: Schema; readonly refers?: readonly string[] }>> = {
  'meta/v1.Patch': {
    schema: {
      type: 'object',
      description: 'Patch is provided to give a concrete name and type to the Kubernetes PATCH request body.',
    },
  },
  'meta/v1.WatchEvent': {
    schema: {
      type: 'object',
      description: 'Event represents a single event to a watched resource.',
      required: ['type', 'object'],
      properties: { object: reference('RawExtension'), type: { type: 'string', default: '' } },
    },
    refers: ['RawExtension'],
  },
  'meta/v1.APIResource': {
    schema: {
      type: 'object',
      description: 'APIResource specifies the name of a resource and whether it is namespaced.',
      required: ['name', 'singularName', 'namespaced', 'kind', 'verbs'],
      properties: {
        ...Object.fromEntries(
          ['name', 'singularName', 'kind'].map((name) => [name, { type: 'string', default: '' }] as const),
        ),
        ...Object.fromEntries(
          ['group', 'version', 'storageVersionHash'].map((name) => [name, { type: 'string' }] as const),
        ),
        ...Object.fromEntries(
          ['categories', 'shortNames', 'verbs'].map(
            (name) => [name, { type: 'array', items: { type: 'string' } }] as const,
          ),
        ),
        namespaced: { type: 'boolean', default: false },
      },
    },
  },
  'meta/v1.APIGroup': {
    schema: {
      type: 'object',
      description: 'APIGroup contains the name, the supported versions, and the preferred version of a group.',
    },
  },
  'meta/v1.APIGroupList': {
    schema: {
      type: 'object',
      description: 'APIGroupList is a list of APIGroup, to allow clients to discover the API at /apis.',
    },
  },
  'meta/v1.APIVersions': {
    schema: {
      type: 'object',
      description:
        'APIVersions lists the versions that are available, to allow clients to discover the API at /api, which is the root path of the legacy v1 API.',
    },
  },
  VersionInfo: {
    schema: {
      type: 'object',
      description: "Info contains versioning information. how we'll want to distribute that information.",
      required: Object.keys(versionInfo).filter((name) => !/^(emulation|minCompatibility)/.test(name)),
      properties: Object.fromEntries(Object.keys(versionInfo).map((name) => [name, { type: 'string' }] as const)),
    },
  },
  'meta/v1.APIResourceList': {
    schema: {
      type: 'object',
      description:
        'APIResourceList is a list of APIResource, it is used to expose the name of the resources supported in a specific group and version, and if the resource is namespaced.',
      required: ['groupVersion', 'resources'],
      properties: {
        apiVersion: { type: 'string', description: memberTexts.apiVersion },
        groupVersion: { type: 'string', default: '' },
        kind: { type: 'string', description: memberTexts.kind },
        resources: { type: 'array', items: reference('meta/v1.APIResource') },
      },
    },
    refers: ['meta/v1.APIResource'],
  },
};

/** Messages of one list, or of a choice, that JSON writes without their fields. */
const unwrapped: Readonly<Record<string, Schema>> = {
  ExtraValue: { type: 'array', items: { type: 'string' } },
  JSONSchemaPropsOrArray: {},
  JSONSchemaPropsOrBool: {},
  JSONSchemaPropsOrStringArray: {},
};

/** `io.k8s.api.core.v1.Pod` for `core/v1.Pod` */
export function schemaName(typeName: string): string {
  const known = Object.hasOwn(special, typeName) ? special[typeName] : undefined;
  if (known !== undefined) return known[0];
  const [group = '', rest = ''] = typeName.split('/');
  return `${(Object.hasOwn(packages, group) ? packages[group] : undefined) ?? `io.k8s.api.${group}`}.${rest}`;
}

/** The schemas of types, and of all that these refer to, by schema name. Types that the table lacks are left out. */
export function builtInSchemas(typeNames: readonly string[], texts: Descriptions['types']): Record<string, Schema> {
  const schemas: Record<string, Schema> = {};
  const queue = [...typeNames];
  for (let typeName = queue.pop(); typeName !== undefined; typeName = queue.pop()) {
    const name = schemaName(typeName);
    if (Object.hasOwn(schemas, name)) continue;
    const { schema, refers } = schemaOf(typeName, texts[typeName] ?? {}) ?? {};
    if (schema !== undefined) schemas[name] = schema;
    queue.push(...(refers ?? []));
  }
  return schemas;
}

function schemaOf(typeName: string, texts: Texts): { schema: Schema; refers?: readonly string[] } | undefined {
  if (Object.hasOwn(ofDocuments, typeName)) return ofDocuments[typeName];
  const known = Object.hasOwn(special, typeName) ? special[typeName] : undefined;
  if (known !== undefined) return { schema: { ...described(texts['']), ...known[1] } };
  const type = objectType(typeName);
  if (type === undefined) return undefined;
  const own = typeName.slice(typeName.indexOf('.') + 1);
  const plain = Object.hasOwn(unwrapped, own) ? unwrapped[own] : undefined;
  if (plain !== undefined) return { schema: { ...described(texts['']), ...plain } };
  return { schema: objectSchema(type, texts), refers: referred(type) };
}

type Texts = Readonly<Record<string, string>>;

function described(text: string | undefined): Schema {
  return text === undefined || text === '' ? {} : { description: text };
}

function referred(type: ObjectType): readonly string[] {
  return [...type.byName.values()].map((field) => field.type).filter((name) => !Object.hasOwn(scalars, name));
}

function objectSchema(type: ObjectType, texts: Texts): Schema {
  const notes = notesOf(type.name);
  const isKind = isKindType(type);
  const properties = [...type.byName.values()].map((field) => {
    const text = texts[field.name] ?? (isKind && field.name === 'metadata' ? memberTexts.metadata : undefined);
    const beside = {
      ...described(text),
      ...defaultOf(field, isKind, notes),
      ...mergingRules(field, notes.merging.get(field.name)),
    };
    return [field.name, fieldSchema(field, beside)] as const;
  });
  return {
    ...described(texts['']),
    type: 'object',
    ...(notes.required.length === 0 ? {} : { required: notes.required }),
    properties: {
      ...(isKind ? kindFields : {}),
      ...Object.fromEntries(properties),
    },
    ...(notes.isAtomic ? { 'x-kubernetes-map-type': 'atomic' } : {}),
  };
}

const kindFields: Schema = {
  apiVersion: { description: memberTexts.apiVersion, type: 'string' },
  kind: { description: memberTexts.kind, type: 'string' },
};

/** Types that say of themselves what they are: kinds, and what stands alone in requests and replies. */
function isKindType(type: ObjectType): boolean {
  const metadata = type.byName.get('metadata')?.type;
  // Templates hold metadata for objects that are made from them.
  const isTemplate = /(TemplateSpec|PersistentVolumeClaimTemplate)$/.test(type.name);
  return (
    (metadata === 'meta/v1.ObjectMeta' && !isTemplate) ||
    metadata === 'meta/v1.ListMeta' ||
    type.name === 'meta/v1.DeleteOptions'
  );
}

/** Members that Go keeps by value are never absent there, and upstream's documents say so. */
function defaultOf(field: FieldType, isKind: boolean, notes: Notes): Schema {
  if (field.shape !== 'one') return {};
  if (isKind && ['metadata', 'spec', 'status'].includes(field.name)) return { default: {} };
  if (!notes.required.includes(field.name)) return {};
  if (field.type === 'string') return { default: '' };
  if (field.type === 'bool') return { default: false };
  return field.type === 'int32' || field.type === 'int64' ? { default: 0 } : {};
}

/** @param beside what is said of the field rather than of its type. */
function fieldSchema(field: FieldType, beside: Schema): Schema {
  const scalar = Object.hasOwn(scalars, field.type) ? scalars[field.type] : undefined;
  const one = scalar ?? reference(field.type);
  switch (field.shape) {
    case 'list':
      return { ...beside, type: 'array', items: one };
    case 'map':
      return { ...beside, type: 'object', additionalProperties: one };
    case 'one':
      // Nothing may stand beside a reference.
      return scalar === undefined && Object.keys(beside).length > 0
        ? { ...beside, allOf: [one] }
        : { ...beside, ...one };
  }
}

function reference(typeName: string): Schema {
  return { $ref: `#/components/schemas/${schemaName(typeName)}` };
}

interface Notes {
  readonly isAtomic: boolean;
  readonly required: readonly string[];
  readonly merging: ReadonlyMap<string, Merging>;
}

/** How a field is merged. */
interface Merging {
  readonly type: string;
  readonly keys: string;
  readonly strategy: string;
  readonly mergeKey: string;
}

/** `name! ports=map:containerPort,protocol:merge:containerPort` */
function notesOf(typeName: string): Notes {
  const notes = [schemaNotes, newerNotes].flatMap((table) =>
    (Object.hasOwn(table, typeName) ? (table[typeName] ?? '') : '').split(' '),
  );
  const merging = notes.flatMap((note): readonly (readonly [string, Merging])[] => {
    const [name = '', rules] = note.split('=');
    if (rules === undefined || name === '') return [];
    const [type = '', keys = '', strategy = '', mergeKey = ''] = rules.split(':');
    return [[name, { type, keys, strategy, mergeKey }]];
  });
  return {
    isAtomic: notes.includes('=atomic'),
    required: notes.filter((note) => note.endsWith('!')).map((note) => note.slice(0, -1)),
    merging: new Map(merging),
  };
}

/** Every list says how it is merged: by the key that patches use, where there is one; else as a whole. */
function mergingRules({ shape }: FieldType, merging: Merging | undefined): Schema {
  const { type = '', keys = '', strategy = '', mergeKey = '' } = merging ?? {};
  const listType = type === '' ? (mergeKey === '' ? 'atomic' : 'map') : type;
  const listKeys = keys === '' && listType === 'map' ? mergeKey : keys;
  return {
    ...(shape === 'list' ? { 'x-kubernetes-list-type': listType } : {}),
    ...(shape === 'list' && listKeys !== '' ? { 'x-kubernetes-list-map-keys': listKeys.split(',') } : {}),
    ...(shape !== 'list' && (type === 'atomic' || type === 'granular') ? { 'x-kubernetes-map-type': type } : {}),
    ...(strategy === '' ? {} : { 'x-kubernetes-patch-strategy': strategy }),
    ...(mergeKey === '' ? {} : { 'x-kubernetes-patch-merge-key': mergeKey }),
  };
}
