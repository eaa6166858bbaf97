import { serveDiscovery } from '../discovery/serve.js';
import { methodNotAllowed } from '../errors.js';
import type { Exchange, Server } from './handler.js';
import { serveHealth } from './health.js';
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
  if (await serveDiscovery(server, exchange, path)) return;
  reply.text(404, '404 page not found\n', 'text/plain; charset=utf-8');
}
