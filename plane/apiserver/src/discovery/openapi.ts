import { createHash } from 'node:crypto';
import { StatusError } from '@castellan/machinery';
import type { Exchange } from '../request/exchange.js';
import type { Server } from '../request/server.js';
import { versionInfo } from '../request/version.js';
import { type ApiGroup, type ApiVersion, groupsOf } from './groups.js';
import { openApiDocument } from './openapi-document.js';

/**
 * `/openapi/v3`: an index of one document per group and version, made when it is asked for. `/openapi/v2`: as little as
 * makes old clients go on with what they know themselves. False for any other path.
 */
export async function serveOpenApi(server: Server, exchange: Exchange, path: string): Promise<boolean> {
  if (path === '/openapi/v2') return serveV2(exchange);
  const [, , version, root, ...rest] = path.split('/');
  if (version !== 'v3') return false;
  const groups = groupsOf(await server.registry.definitions());
  if (root === undefined) {
    exchange.reply.text(200, JSON.stringify(index(groups)), 'text/plain; charset=utf-8');
    return true;
  }
  return serveGroup(exchange, groups, { root, rest, path });
}

async function serveGroup(
  { request, reply }: Exchange,
  groups: readonly ApiGroup[],
  { root, rest, path }: { readonly root: string; readonly rest: readonly string[]; readonly path: string },
): Promise<boolean> {
  const [groupName, version] = root === 'api' ? ['', rest[0]] : rest;
  const group = groups.find(({ name }) => name === groupName);
  const found = group?.versions.find((candidate) => candidate.version === version);
  if (group === undefined || found === undefined || rest.length > (root === 'api' ? 1 : 2)) return false;
  const hash = hashOf(group, found);
  const asked = request.query.get('hash');
  if (asked !== null && asked !== hash) {
    reply.text(301, '', 'text/plain; charset=utf-8', { location: `${path}?hash=${hash}` });
    return true;
  }
  const etag = `"${hash}"`;
  const caching = asked === hash ? { 'cache-control': 'public, immutable' } : {};
  const headers = { etag, vary: 'Accept', ...caching };
  if (request.headers['if-none-match'] === etag) reply.text(304, '', 'application/json', headers);
  else reply.text(200, JSON.stringify(await openApiDocument(group.name, found)), 'application/json', headers);
  return true;
}

function index(groups: readonly ApiGroup[]) {
  const entries = groups.flatMap((group) =>
    group.versions.map((version) => {
      const path = group.name === '' ? `api/${version.version}` : `apis/${group.name}/${version.version}`;
      return [path, { serverRelativeURL: `/openapi/v3/${path}?hash=${hashOf(group, version)}` }] as const;
    }),
  );
  return { paths: Object.fromEntries(entries) };
}

/** Changes with the definitions and with this server's release, without making the document. */
function hashOf({ name }: ApiGroup, { version, resources }: ApiVersion): string {
  const parts = resources.map(({ plural, schemaRevision = '' }) => `${plural} ${schemaRevision}`);
  return createHash('sha512')
    .update([versionInfo.gitVersion, name, version, ...parts].join('\n'))
    .digest('hex')
    .toUpperCase();
}

const v2ProtobufRequest = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';
const v2ProtobufReply = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';

/** A whole gnostic Document: swagger "2.0", info.title "k8s". kubectl up to 1.28 wants one, and needs nothing in it. */
const v2Protobuf = Buffer.from([0x0a, 3, ...Buffer.from('2.0'), 0x12, 5, 0x0a, 3, ...Buffer.from('k8s')]);

async function serveV2({ request, reply }: Exchange): Promise<boolean> {
  const accept = request.headers.accept ?? '*/*';
  if (accept.includes(v2ProtobufRequest) || accept.includes(v2ProtobufReply)) {
    reply.text(200, v2Protobuf, v2ProtobufReply);
    return true;
  }
  if (!accept.includes('json') && !accept.includes('*/*')) {
    throw StatusError.of(
      'NotAcceptable',
      `only the following media types are accepted: application/json, ${v2ProtobufReply}`,
    );
  }
  const info = { title: 'Kubernetes', version: versionInfo.gitVersion };
  await reply.object(200, { swagger: '2.0', info, paths: {}, definitions: {} });
  return true;
}
