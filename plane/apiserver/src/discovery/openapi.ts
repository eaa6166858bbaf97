import { createHash } from 'node:crypto';
import { StatusError } from '@castellan/machinery';
import type { Exchange } from '../request/exchange.js';
import type { Server } from '../request/server.js';
import { versionInfo } from '../request/version.js';
import { type ApiGroup, groupsOf } from './groups.js';
import { fixedPaths, type PathItem } from './openapi-paths.js';

/**
 * `/openapi/v3`: an index of one document per group and version; `/openapi/v2`: one document of all of them, as JSON or, for
 * kubectl up to 1.28, protobuf. Each is made when it is asked for, and known by the hash of the definitions it is made of.
 * False for any other path.
 */
export async function serveOpenApi(server: Server, exchange: Exchange, path: string): Promise<boolean> {
  const isV2 = path === '/openapi/v2';
  if (!isV2 && path !== '/openapi/v3' && !path.startsWith('/openapi/v3/')) return false;
  const groups = groupsOf(await server.registry.definitions());
  if (isV2) await serveV2(exchange, groups);
  else if (path === '/openapi/v3') exchange.reply.text(200, JSON.stringify(index(groups)), 'text/plain; charset=utf-8');
  else await serveV3(exchange, groups, path);
  return true;
}

async function serveV3({ request, reply }: Exchange, groups: readonly ApiGroup[], path: string): Promise<void> {
  const name = path.slice('/openapi/v3/'.length);
  const asked = documentsOf(groups).get(name);
  if (asked === undefined) {
    reply.empty(404);
    return;
  }
  const hash = hashOf(name, asked.groups);
  const askedHash = request.query.get('hash');
  if (askedHash !== null && askedHash !== hash) {
    reply.text(301, '', 'text/plain; charset=utf-8', { location: `${path}?hash=${hash}` });
    return;
  }
  const etag = `"${hash}"`;
  const caching = askedHash === hash ? { 'cache-control': 'public, immutable' } : {};
  const headers = { etag, vary: 'Accept', ...caching };
  if (request.headers['if-none-match'] === etag) {
    reply.text(304, '', 'application/json', headers);
    return;
  }
  const [{ describeApi }, { openApiV3 }] = await Promise.all([
    import('./openapi-document.js'),
    import('./openapi-v3.js'),
  ]);
  reply.text(200, JSON.stringify(openApiV3(describeApi(asked, groups))), 'application/json', headers);
}

interface Asked {
  readonly groups: readonly ApiGroup[];
  readonly fixed: readonly PathItem[];
}

/** By the name in the index: a version of a group, or a path that belongs to none. */
function documentsOf(groups: readonly ApiGroup[]): ReadonlyMap<string, Asked> {
  const ofVersions = groups.flatMap(({ name, versions }) =>
    versions.map((version) => {
      const path = name === '' ? `api/${version.version}` : `apis/${name}/${version.version}`;
      return [path, { groups: [{ name, versions: [version] }], fixed: [] }] as const;
    }),
  );
  const fixed = [...fixedPaths(builtInNames(groups))].map(
    ([name, path]) => [name, { groups: [], fixed: [path] }] as const,
  );
  return new Map<string, Asked>([...fixed, ...ofVersions]);
}

function builtInNames(groups: readonly ApiGroup[]): readonly string[] {
  const isBuiltIn = ({ versions }: ApiGroup) =>
    versions.some(({ resources }) => resources.some((each) => !each.isCustom));
  return groups.filter((group) => group.name !== '' && isBuiltIn(group)).map(({ name }) => name);
}

function index(groups: readonly ApiGroup[]) {
  const entries = [...documentsOf(groups)].map(
    ([name, asked]) => [name, { serverRelativeURL: `/openapi/v3/${name}?hash=${hashOf(name, asked.groups)}` }] as const,
  );
  return { paths: Object.fromEntries(entries) };
}

/** Changes with the definitions and with this server's release, without making the document. */
function hashOf(name: string, asked: readonly ApiGroup[]): string {
  const parts = asked.flatMap((group) =>
    group.versions.flatMap(({ version, resources }) =>
      resources.map(({ plural, schemaRevision = '' }) => `${group.name} ${version} ${plural} ${schemaRevision}`),
    ),
  );
  return createHash('sha512')
    .update([versionInfo.gitVersion, name, ...parts].join('\n'))
    .digest('hex')
    .toUpperCase();
}

const v2ProtobufRequest = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';
const v2ProtobufReply = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';

async function serveV2({ request, reply }: Exchange, groups: readonly ApiGroup[]): Promise<void> {
  const accept = request.headers.accept ?? '*/*';
  const isProtobuf = accept.includes(v2ProtobufRequest) || accept.includes(v2ProtobufReply);
  if (!isProtobuf && !accept.includes('json') && !accept.includes('*/*')) {
    throw StatusError.of(
      'NotAcceptable',
      `only the following media types are accepted: application/json, ${v2ProtobufReply}`,
    );
  }
  const contentType = isProtobuf ? v2ProtobufReply : 'application/json';
  const etag = `"${hashOf('v2', groups)}"`;
  const headers = { etag, vary: 'Accept' };
  if (request.headers['if-none-match'] === etag) {
    reply.text(304, '', contentType, headers);
    return;
  }
  const [{ describeApi }, { openApiV2 }] = await Promise.all([
    import('./openapi-document.js'),
    import('./openapi-v2.js'),
  ]);
  const document = openApiV2(describeApi({ groups, fixed: [...fixedPaths(builtInNames(groups)).values()] }, groups));
  if (!isProtobuf) {
    reply.text(200, JSON.stringify(document), contentType, headers);
    return;
  }
  const { encodeDocument } = await import('./gnostic.js');
  reply.text(200, encodeDocument(document), contentType, headers);
}
