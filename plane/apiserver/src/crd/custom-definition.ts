import { type ApiObject, at, list, record, records, text } from '../json.js';
import { nameAndAge } from '../printers/cells.js';
import type { ResourceDefinition, SubresourceDefinition, Verb } from '../registry/resource.js';
import type { ScalePaths } from '../registry/scale-paths.js';
import { customColumns } from './custom-columns.js';
import { customStrategy } from './custom-strategy.js';
import { deprecationOf } from './deprecation.js';
import { storedViews, type VersionSchema } from './stored-views.js';
import type { WebhookConversion } from './webhook-conversion.js';

/** In the order in which kube-apiserver lists them for custom resources. */
const customVerbs: readonly Verb[] = [
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'create',
  'update',
  'watch',
];

/** One served version of a CustomResourceDefinition as a row of the table of kinds. */
export function customDefinition(crd: ApiObject, version: string, conversion: WebhookConversion): ResourceDefinition {
  const spec = record(crd.spec);
  const names = record(spec.names);
  const versionSpec = record(records(spec.versions).find(({ name }) => name === version));
  const kind = text(names.kind) ?? '';
  const group = text(spec.group) ?? '';
  const schema = at(versionSpec, 'schema', 'openAPIV3Schema');
  const apiVersion = `${group}/${version}`;
  const storageVersion = text(records(spec.versions).find(({ storage }) => storage === true)?.name);
  const storedAs = `${group}/${storageVersion ?? version}`;
  const columns = records(versionSpec.additionalPrinterColumns);
  const { scale } = scaleOf(versionSpec);
  const deprecation = deprecationOf(crd, versionSpec);
  const own = customStrategy(schema, scale);
  const { strategy, prune } = own;
  const views = storedViews({
    crd,
    apiVersion,
    storedAs,
    conversion,
    schemaOf: schemasOf(crd, new Map([[apiVersion, own]])),
  });
  return {
    group,
    version,
    kind,
    listKind: text(names.listKind) ?? `${kind}List`,
    plural: text(names.plural) ?? '',
    singular: text(names.singular) ?? kind.toLowerCase(),
    shortNames: texts(names.shortNames),
    categories: texts(names.categories),
    isNamespaced: spec.scope === 'Namespaced',
    verbs: customVerbs,
    subresources: subresourcesOf(kind, versionSpec),
    strategy,
    fieldLabels: selectableFields(versionSpec),
    hasGeneration: true,
    createsOnUpdate: false,
    requiresVersionOnUpdate: true,
    returnsDeleted: false,
    isCustom: true,
    columns: columns.length === 0 ? nameAndAge : customColumns(columns),
    schema,
    schemaRevision: `${crd.metadata.uid}/${crd.metadata.generation}`,
    ...(scale === undefined ? {} : { scale }),
    ...(deprecation === undefined ? {} : { deprecation }),
    ...views,
    prune,
  };
}

/** The schemas of a definition by API version, each compiled when it is first needed. */
function schemasOf(crd: ApiObject, known: Map<string, VersionSchema>) {
  return (apiVersion: string): VersionSchema | undefined => {
    const before = known.get(apiVersion);
    if (before !== undefined) return before;
    const version = apiVersion.slice(apiVersion.indexOf('/') + 1);
    const declared = records(at(crd, 'spec', 'versions')).find(({ name }) => name === version);
    if (declared === undefined) return undefined;
    const schema = customStrategy(at(declared, 'schema', 'openAPIV3Schema'));
    known.set(apiVersion, schema);
    return schema;
  };
}

function subresourcesOf(kind: string, version: Readonly<Record<string, unknown>>): readonly SubresourceDefinition[] {
  const declared = record(version.subresources);
  const verbs = ['get', 'patch', 'update'] as const;
  return [
    ...(declared.status === undefined ? [] : [{ name: 'status', kind, verbs }]),
    ...(declared.scale === undefined
      ? []
      : [{ name: 'scale', group: 'autoscaling', version: 'v1', kind: 'Scale', verbs }]),
  ];
}

function texts(value: unknown): readonly string[] {
  return list(value).filter((item) => typeof item === 'string');
}

function scaleOf(version: Readonly<Record<string, unknown>>): { readonly scale?: ScalePaths } {
  const scale = record(record(version.subresources).scale);
  const path = (value: unknown) => (text(value) ?? '').split('.').filter((field) => field !== '');
  if (text(scale.specReplicasPath) === undefined) return {};
  const { labelSelectorPath } = scale;
  return {
    scale: {
      specReplicas: path(scale.specReplicasPath),
      statusReplicas: path(scale.statusReplicasPath),
      ...(labelSelectorPath === undefined ? {} : { labelSelector: path(labelSelectorPath) }),
    },
  };
}

/** `selectableFields` with the JSON path `.spec.color` are field selectors named `spec.color`. */
function selectableFields(version: Readonly<Record<string, unknown>>): Readonly<Record<string, readonly string[]>> {
  const labels = records(version.selectableFields).map(({ jsonPath }) => (text(jsonPath) ?? '').replace(/^\./, ''));
  return Object.fromEntries(labels.map((label) => [label, label.split('.')]));
}
