import type { ResourceDefinition, SubresourceDefinition } from '../registry/resource.js';
import { capital, groupPrefix, groupTag, rootOf, tagOf } from './openapi-names.js';
import { builtIn, json, KindOperations, type Operation } from './openapi-operations.js';

/** A path of the API and what can be done there. */
export interface PathItem {
  readonly path: string;
  readonly operations: readonly Operation[];
}

/** `/apis/GROUP/VERSION/` itself. */
export function discoveryPath(group: string, version: string): PathItem {
  const operation: Operation = {
    method: 'get',
    description: 'get available resources',
    id: `get${groupPrefix(group)}${capital(version)}APIResources`,
    tag: tagOf(group, version),
    parameters: [],
    responses: [{ status: 200, type: 'meta/v1.APIResourceList' }],
    produces: builtIn,
  };
  return { path: `${rootOf(group, version)}/`, operations: [operation] };
}

/** Paths beside the groups' versions, by the name of their document. */
export function fixedPaths(groupNames: readonly string[]): ReadonlyMap<string, PathItem> {
  const issuer = 'get service account issuer OpenID';
  const rows: readonly (readonly [name: string, id: string, tag: string, description: string, detail: Fixed])[] = [
    ['version', 'getCodeVersion', 'version', 'get the version information for this server', { type: 'VersionInfo' }],
    ['api', 'getCoreAPIVersions', 'core', 'get available API versions', { type: 'meta/v1.APIVersions', is: builtIn }],
    ['apis', 'getAPIVersions', 'apis', 'get available API versions', { type: 'meta/v1.APIGroupList', is: builtIn }],
    ...groupNames.map(
      (group) =>
        [
          `apis/${group}`,
          `get${groupPrefix(group)}APIGroup`,
          groupTag(group),
          'get information of a group',
          { type: 'meta/v1.APIGroup', is: builtIn },
        ] as const,
    ),
    [
      '.well-known/openid-configuration',
      'getServiceAccountIssuerOpenIDConfiguration',
      'WellKnown',
      `${issuer} configuration, also known as the 'OIDC discovery doc'`,
      {},
    ],
    [
      'openid/v1/jwks',
      'getServiceAccountIssuerOpenIDKeyset',
      'openid',
      `${issuer} JSON Web Key Set (contains public token verification keys)`,
      { is: ['application/jwk-set+json'] },
    ],
  ];
  return new Map(
    rows.map(([name, id, tag, description, { type, is = json }]) => {
      const response = { status: 200, ...(type === undefined ? {} : { type }) } as const;
      const responses = [response];
      const operation: Operation = { method: 'get', description, id, tag, parameters: [], responses, produces: is };
      return [name, { path: `/${name}/`, operations: [operation] }] as const;
    }),
  );
}

interface Fixed {
  readonly type?: string;
  /** Media types of the reply. */
  readonly is?: readonly string[];
}

/** What a kind's clients can do, as the discovery documents say it, in upstream's words and with its operation ids. */
export function pathsOf(definition: ResourceDefinition): readonly PathItem[] {
  const { group, version, plural, isNamespaced, verbs, isCustom } = definition;
  const root = rootOf(group, version);
  const within = isNamespaced ? '/namespaces/{namespace}' : '';
  const collection = `${root}${within}/${plural}`;
  const word = new KindOperations(definition);
  const all = isNamespaced && verbs.includes('list') ? [item(`${root}/${plural}`, [word.list(true)])] : [];
  return [
    ...all,
    item(collection, word.collection()),
    item(`${collection}/{name}`, word.object()),
    ...definition.subresources.flatMap((subresource) => subresourcePaths(word, collection, subresource)),
    // Upstream writes no watch paths for custom resources.
    ...(verbs.includes('watch') && !isCustom
      ? [
          item(`${root}/watch/${plural}`, [word.watchList(isNamespaced)]),
          ...(isNamespaced ? [item(`${root}/watch${within}/${plural}`, [word.watchList(false)])] : []),
          item(`${root}/watch${within}/${plural}/{name}`, [word.watchObject()]),
        ]
      : []),
  ].filter(({ operations }) => operations.length > 0);
}

function subresourcePaths(
  word: KindOperations,
  collection: string,
  subresource: SubresourceDefinition,
): readonly PathItem[] {
  const path = `${collection}/{name}/${subresource.name}`;
  if (!subresource.kind.endsWith('Options')) return [item(path, word.subresource(subresource))];
  const isProxy = subresource.name === 'proxy';
  const whole = item(path, word.connect(subresource, ''));
  return isProxy ? [whole, item(`${path}/{path}`, word.connect(subresource, 'WithPath'))] : [whole];
}

/** A path's operations, each with the parameters that stand in the path. */
function item(path: string, operations: readonly Operation[]): PathItem {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => `path:${name}`);
  return {
    path,
    operations: operations.map((operation) => ({ ...operation, parameters: [...operation.parameters, ...inPath] })),
  };
}
