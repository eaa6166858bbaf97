import { createHash } from 'node:crypto';
import { StatusError } from '@castellan/machinery';
import { badRequest } from '../errors.js';
import type { ApiRequest } from '../server/http.js';

/** RFC 6455, section 1.3. */
const acceptSuffix = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

/** Whether this is an opening handshake of RFC 6455. */
export function isWebSocket({ method, upgrade }: ApiRequest): boolean {
  return method === 'GET' && upgrade === 'websocket';
}

/** The subprotocols that the client offers, in its order. */
export function offeredProtocols({ headers }: ApiRequest): readonly string[] {
  return (headers['sec-websocket-protocol'] ?? '').split(',').flatMap((name) => name.trim() || []);
}

/**
 * The client's first subprotocol that is supported; '' when it offers none and that is supported. Fails with a 403 as
 * upstream, upon which kubectl tries SPDY.
 */
export function chooseProtocol(request: ApiRequest, supported: readonly string[]): string {
  const offered = offeredProtocols(request);
  const chosen = (offered.length === 0 ? [''] : offered).find((name) => supported.includes(name));
  if (chosen !== undefined) return chosen;
  const known = supported.filter((name) => name !== '').join(', ');
  throw StatusError.of(
    'Forbidden',
    `none of the WebSocket protocols [${offered.join(', ')}] is offered here: ${known}`,
  );
}

/** The headers of the 101 that completes the handshake. Fails with a 400 when the client's part is wrong. */
export function handshakeHeaders({ headers }: ApiRequest, protocol: string): Readonly<Record<string, string>> {
  const key = headers['sec-websocket-key'] ?? '';
  if (headers['sec-websocket-version'] !== '13') throw badRequest('missing or bad WebSocket Version: only 13 is known');
  if (Buffer.from(key, 'base64').length !== 16) throw badRequest('missing or bad Sec-WebSocket-Key');
  const accept = createHash('sha1')
    .update(key + acceptSuffix)
    .digest('base64');
  return {
    upgrade: 'websocket',
    'sec-websocket-accept': accept,
    ...(protocol === '' ? {} : { 'sec-websocket-protocol': protocol }),
  };
}
