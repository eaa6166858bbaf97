import { apiVersionOf } from '@castellan/machinery';
import { isRecord, record } from '../json.js';
import type { ResourceDefinition, SubresourceDefinition } from '../registry/resource.js';
import { versionInfo } from '../request/version.js';
import type { ApiVersion } from './groups.js';

const metaSchema = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';
const listMetaSchema = 'io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta';

interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/**
 * The OpenAPI v3 document of one group and version: what kubectl and Helm look for in it. Each operation names its kind
 * and action, PATCH says that it knows dryRun and fieldValidation, each kind has a schema.
 */
export async function openApiDocument(group: string, { version, resources }: ApiVersion) {
  const kinds = resources.filter(({ verbs }) => verbs.length > 0);
  const builtIn = kinds.filter(({ isCustom }) => !isCustom);
  const types = builtIn.length === 0 ? {} : await typesOf(builtIn);
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version: versionInfo.gitVersion },
    paths: Object.fromEntries(kinds.flatMap((definition) => pathsOf(group, version, definition))),
    components: {
      schemas: {
        [metaSchema]: { type: 'object', description: "Standard object's metadata.", properties: metaProperties },
        [listMetaSchema]: { type: 'object', properties: { continue: text, resourceVersion: text } },
        ...types,
        ...Object.fromEntries(kinds.flatMap((definition) => schemasOf(definition, types))),
      },
    },
  };
}

/** The tables are large, and only documents need them. */
async function typesOf(definitions: readonly ResourceDefinition[]): Promise<Readonly<Record<string, unknown>>> {
  const [{ builtInSchemas }, { typeNameOf }] = await Promise.all([
    import('./built-in-schemas.js'),
    import('../types/field-types.js'),
  ]);
  return builtInSchemas(definitions.map(typeNameOf));
}

const text = { type: 'string' } as const;
const texts = { type: 'object', additionalProperties: text } as const;
const time = { type: 'string', format: 'date-time' } as const;

const metaProperties = {
  annotations: texts,
  creationTimestamp: time,
  deletionGracePeriodSeconds: { type: 'integer', format: 'int64' },
  deletionTimestamp: time,
  finalizers: { type: 'array', items: text },
  generateName: text,
  generation: { type: 'integer', format: 'int64' },
  labels: texts,
  managedFields: { type: 'array', items: { type: 'object' } },
  name: text,
  namespace: text,
  ownerReferences: { type: 'array', items: { type: 'object' } },
  resourceVersion: text,
  selfLink: text,
  uid: text,
} as const;

function pathsOf(group: string, version: string, definition: ResourceDefinition) {
  const { plural, isNamespaced } = definition;
  const root = group === '' ? `/api/${version}` : `/apis/${apiVersionOf({ group, version })}`;
  const base = isNamespaced ? `${root}/namespaces/{namespace}/${plural}` : `${root}/${plural}`;
  const own = { group, version, kind: definition.kind };
  return [
    ...(isNamespaced ? [[`${root}/${plural}`, operations(own, { get: 'list' })] as const] : []),
    [base, operations(own, { get: 'list', post: 'post', delete: 'deletecollection' })] as const,
    [`${base}/{name}`, operations(own, { get: 'get', put: 'put', patch: 'patch', delete: 'delete' })] as const,
    ...definition.subresources.map(
      (subresource) =>
        [
          `${base}/{name}/${subresource.name}`,
          operations(kindOf(own, subresource), subresourceActions(subresource)),
        ] as const,
    ),
  ];
}

function kindOf(parent: GroupVersionKind, { group, version, kind }: SubresourceDefinition): GroupVersionKind {
  return { group: group ?? parent.group, version: version ?? parent.version, kind };
}

function subresourceActions({ verbs }: SubresourceDefinition): Readonly<Record<string, string>> {
  const methods = { get: 'get', patch: 'patch', update: 'put', create: 'post' } as const;
  return Object.fromEntries(verbs.map((verb) => [methods[verb], methods[verb]]));
}

function operations(type: GroupVersionKind, actions: Readonly<Record<string, string>>) {
  return Object.fromEntries(
    Object.entries(actions).map(([method, action]) => [
      method,
      {
        operationId: `${action}${type.kind}`,
        parameters:
          method === 'get'
            ? []
            : [queryParameter('dryRun'), queryParameter('fieldValidation'), queryParameter('fieldManager')],
        // Strategic merge patches are taken, but kubectl is to make them from its own types, not from open schemas.
        ...(method === 'patch' ? { requestBody: { content: { 'application/merge-patch+json': {} } } } : {}),
        responses: { '200': { description: 'OK' } },
        'x-kubernetes-action': action,
        'x-kubernetes-group-version-kind': type,
      },
    ]),
  );
}

function queryParameter(name: string) {
  return { name, in: 'query', schema: { type: 'string', uniqueItems: true } };
}

function schemasOf(definition: ResourceDefinition, types: Readonly<Record<string, unknown>>) {
  const { kind, listKind } = definition;
  const name = schemaName(definition, kind);
  const schema = definition.schema ?? types[name];
  return [
    [name, { ...kindSchema(schema), ...groupVersionKind(definition, kind) }] as const,
    [
      schemaName(definition, listKind),
      {
        type: 'object',
        required: ['items'],
        properties: {
          apiVersion: text,
          kind: text,
          metadata: reference(listMetaSchema),
          items: { type: 'array', items: reference(name) },
        },
        ...groupVersionKind(definition, listKind),
      },
    ] as const,
  ];
}

/** The declared schema with what every object has; a kind without one has an open schema. */
function kindSchema(schema: unknown) {
  const declared = isRecord(schema) ? schema : { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  return {
    ...declared,
    properties: { ...record(declared.properties), apiVersion: text, kind: text, metadata: reference(metaSchema) },
  };
}

function reference(schema: string) {
  return { allOf: [{ $ref: `#/components/schemas/${schema}` }] };
}

function groupVersionKind({ group, version }: ResourceDefinition, kind: string) {
  return { 'x-kubernetes-group-version-kind': [{ group, kind, version }] };
}

/** `com.example.v1.Widget`: the group's name from its end, as upstream has it. */
function schemaName({ group, version, isCustom }: ResourceDefinition, kind: string): string {
  if (isCustom) return `${group.split('.').reverse().join('.')}.${version}.${kind}`;
  if (group === 'apiextensions.k8s.io')
    return `io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.${version}.${kind}`;
  return `io.k8s.api.${group === '' ? 'core' : (group.split('.')[0] ?? '')}.${version}.${kind}`;
}
