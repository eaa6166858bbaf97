import { serveDiscovery } from '../discovery/serve.js';
import { methodNotAllowed, unknownResource } from '../errors.js';
import type { Exchange } from './exchange.js';
import { serveHealth } from './health.js';
import type { Reply } from './reply.js';
import type { Server } from './server.js';
import { versionInfo } from './version.js';

const healthPaths = ['/healthz', '/livez', '/readyz'];

/** Everything that is not a resource: health, version, discovery, schemas. */
export async function servePath(server: Server, exchange: Exchange, path: string): Promise<void> {
  const { request, reply } = exchange;
  if (request.method !== 'GET' && request.method !== 'HEAD') throw methodNotAllowed();
  if (healthPaths.some((root) => path === root || path.startsWith(`${root}/`))) {
    await serveHealth(server, exchange, path);
    return;
  }
  if (path === '/version') {
    await reply.object(200, versionInfo);
    return;
  }
  if (path === '/metrics') {
    await (await import('./metrics.js')).serveMetrics(server, exchange);
    return;
  }
  if (await serveDiscovery(server, exchange, path)) return;
  // A version that a known group does not have is a resource that was not found; anything else is no path at all.
  const version = /^\/(?:api|apis\/([^/]+))\/[^/]+$/.exec(path);
  if (version !== null && server.registry.isBuiltInGroup(version[1] ?? '')) {
    throw unknownResource();
  }
  noSuchPath(reply);
}

/** What nobody serves: in plain text, as upstream answers what it routes nowhere. */
export function noSuchPath(reply: Reply): void {
  reply.text(404, '404 page not found\n', 'text/plain; charset=utf-8');
}
