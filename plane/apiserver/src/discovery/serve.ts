import { createHash } from 'node:crypto';
import type { Exchange } from '../request/exchange.js';
import { mediaRanges, negotiate } from '../request/negotiation.js';
import type { Server } from '../request/server.js';
import { aggregatedDiscovery } from './aggregated.js';
import { type ApiGroup, servedGroups } from './groups.js';
import { apiGroup, apiGroupList, apiResourceList, apiVersions } from './legacy.js';
import { serveOpenApi } from './openapi.js';
import { serveOpenId } from './openid.js';

const aggregatedType = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

export async function serveDiscovery(server: Server, exchange: Exchange, path: string): Promise<boolean> {
  const [, root = '', first, second, ...rest] = path.split('/');
  if (serveOpenId(server, exchange, path)) return true;
  if (root === 'openapi') return serveOpenApi(server, exchange, path);
  if (path === '/') {
    await exchange.reply.object(200, { paths: await rootPaths(server) });
    return true;
  }
  if ((root !== 'api' && root !== 'apis') || rest.length > 0) return false;
  const groups = await servedGroups(server);
  if (first === undefined) {
    await serveRoot(exchange, root, groups);
    return true;
  }
  const isCore = root === 'api';
  const group = groups.find(({ name }) => name === (isCore ? '' : first));
  const wanted = isCore ? first : second;
  if (group === undefined) return false;
  const representation = negotiate(exchange.request.headers.accept);
  if (wanted === undefined) {
    await exchange.reply.object(200, { kind: 'APIGroup', apiVersion: 'v1', ...apiGroup(group) }, representation);
    return true;
  }
  const version = group.versions.find((candidate) => candidate.version === wanted);
  if (version === undefined || (isCore && second !== undefined)) return false;
  await exchange.reply.object(200, apiResourceList(group.name, version), representation);
  return true;
}

async function serveRoot({ request, reply }: Exchange, root: string, groups: readonly ApiGroup[]): Promise<void> {
  const accept = request.headers.accept ?? '';
  if (!wantsAggregated(accept)) {
    const address = request.headers[':authority'] ?? request.headers.host ?? '';
    const document = root === 'api' ? apiVersions(address) : apiGroupList(groups);
    await reply.object(200, document, negotiate(accept));
    return;
  }
  const own = groups.filter(({ name }) => (name === '') === (root === 'api'));
  const body = JSON.stringify(aggregatedDiscovery(own));
  const etag = `"${createHash('sha512').update(body).digest('hex').toUpperCase()}"`;
  const headers = { etag, vary: 'Accept', 'cache-control': 'public' };
  if (request.headers['if-none-match'] === etag) reply.text(304, '', aggregatedType, headers);
  else reply.text(200, body, aggregatedType, headers);
}

/** Only v2 exactly: an older client that asks for v2beta1 alone cannot read v2 and is given the legacy documents. */
function wantsAggregated(accept: string): boolean {
  for (const { type, parameters } of mediaRanges(accept)) {
    if (type !== 'application/json') continue;
    const { as: shape, g: group, v: version } = parameters;
    if (shape === undefined) return false;
    if (shape === 'APIGroupDiscoveryList' && group === 'apidiscovery.k8s.io' && version === 'v2') return true;
  }
  return false;
}

async function rootPaths(server: Server): Promise<readonly string[]> {
  const groups = await servedGroups(server);
  const versions = groups.flatMap(({ name, versions }) =>
    name === '' ? [] : [`/apis/${name}`, ...versions.map(({ version }) => `/apis/${name}/${version}`)],
  );
  const fixed = [
    '/healthz',
    '/livez',
    '/metrics',
    '/openapi/v2',
    '/openapi/v3',
    '/openid/v1/jwks',
    '/readyz',
    '/version',
  ];
  return ['/.well-known/openid-configuration', '/api', '/api/v1', '/apis', ...versions.sort(), ...fixed];
}
