import http from 'node:http';
import https from 'node:https';
import type { SecureContextOptions } from 'node:tls';
import type { RawRequest, RawResponse } from '../client.js';
import { readableBody } from './readable-body.js';
import { type Transport, TransportClosedError } from './transport.js';

/** Every watch holds a socket of its own over HTTP/1.1. */
const maxSockets = 256;

/** HTTP/1.1 with keep-alive; for http:// servers, and https:// servers that do not offer h2. */
export function http1Transport(
  server: URL,
  tls: SecureContextOptions & { readonly rejectUnauthorized?: boolean },
): Transport {
  const isSecure = server.protocol === 'https:';
  const agent = isSecure
    ? new https.Agent({ keepAlive: true, maxSockets, ...tls })
    : new http.Agent({ keepAlive: true, maxSockets });
  const { request: start } = isSecure ? https : http;
  let isClosed = false;

  function send(request: RawRequest): Promise<RawResponse> {
    const { signal } = request;
    if (isClosed) return Promise.reject(new TransportClosedError());
    if (signal?.aborted) return Promise.reject(signal.reason);
    return new Promise((resolve, reject) => {
      const outgoing = start(server, {
        agent,
        method: request.method,
        path: request.path,
        headers: headersOf(request),
      });
      const onAbort = (): void => {
        outgoing.destroy(signal?.reason instanceof Error ? signal.reason : new Error('aborted'));
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      outgoing.once('close', () => signal?.removeEventListener('abort', onAbort));
      outgoing.on('error', (error) => reject(signal?.aborted ? signal.reason : error));
      outgoing.once('response', (incoming) => {
        resolve({
          status: incoming.statusCode ?? 0,
          headers: flatHeaders(incoming.headers),
          body: readableBody(incoming, { isTruncated: () => !incoming.complete, signal }),
        });
      });
      outgoing.end(request.body);
    });
  }

  return {
    send,
    async close() {
      isClosed = true;
      agent.destroy();
    },
  };
}

function headersOf(request: RawRequest): Record<string, string | number> {
  if (request.body === undefined) return { ...request.headers };
  return { ...request.headers, 'content-length': Buffer.byteLength(request.body) };
}

export function flatHeaders(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || name.startsWith(':')) continue;
    flat[name] = typeof value === 'string' ? value : value.join(', ');
  }
  return flat;
}
