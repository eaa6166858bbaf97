const prefix = 'base64url.bearer.authorization.k8s.io.';

/**
 * Browsers cannot set headers of a WebSocket: their bearer token comes as one more subprotocol, which is none. Gives the
 * headers with the token where it belongs. A token in a header counts more.
 */
export function withWebSocketToken(
  headers: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string | undefined>> {
  const offered = (headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim());
  const [encoded] = offered.flatMap((name) => (name.startsWith(prefix) ? [name.slice(prefix.length)] : []));
  if (encoded === undefined) return headers;
  const token = Buffer.from(encoded, 'base64url').toString('utf8');
  return {
    authorization: `Bearer ${token}`,
    ...headers,
    'sec-websocket-protocol': offered.filter((name) => !name.startsWith(prefix)).join(','),
  };
}
