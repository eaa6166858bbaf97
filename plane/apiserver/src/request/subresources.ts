import { serveTokenRequest } from '../authentication/token-request.js';
import { methodNotAllowed } from '../errors.js';
import { serveApproval } from './approval.js';
import { serveBinding } from './binding.js';
import { serveEviction } from './eviction.js';
import type { ResourceExchange } from './exchange.js';
import { serveFinalize } from './finalize.js';
import { serveLog } from './log.js';
import { servePodPart } from './pod-part.js';
import { serveScale } from './scale.js';
import type { Server } from './server.js';

/** Everything below an object but `status`, which is a way of writing the object itself. */
export function serveSubresource(server: Server, exchange: ResourceExchange): Promise<void> {
  switch (exchange.info.subresource) {
    case 'approval':
      return serveApproval(exchange);
    case 'ephemeralcontainers':
    case 'resize':
      return servePodPart(exchange);
    case 'binding':
      return serveBinding(exchange);
    case 'eviction':
      return serveEviction(server, exchange);
    case 'finalize':
      return serveFinalize(exchange);
    case 'log':
      return serveLog(server, exchange);
    case 'scale':
      return serveScale(exchange);
    case 'token':
      return serveTokenRequest(server, exchange);
    default:
      throw methodNotAllowed();
  }
}
