import type { Exchange } from '../request/exchange.js';
import type { Server } from '../request/server.js';

const configurationPath = '/.well-known/openid-configuration';
const keysPath = '/openid/v1/jwks';
const caching = { 'cache-control': 'public, max-age=3600' };

/**
 * What others need to verify service accounts' tokens by themselves: who issues them, and the public keys. False for any
 * other path. Source: OpenID Connect Discovery 1.0; Kubernetes' ServiceAccountIssuerDiscovery.
 */
export function serveOpenId({ tokens }: Server, { request, reply }: Exchange, path: string): boolean {
  if (path === configurationPath) {
    const host = request.headers[':authority'] ?? request.headers.host ?? '';
    const { keys } = tokens.keySet();
    const configuration = {
      issuer: tokens.issuer,
      jwks_uri: `https://${host}${keysPath}`,
      response_types_supported: ['id_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: [...new Set(keys.map(({ alg }) => alg))],
    };
    reply.text(200, JSON.stringify(configuration), 'application/json', caching);
    return true;
  }
  if (path !== keysPath) return false;
  reply.text(200, JSON.stringify(tokens.keySet()), 'application/jwk-set+json', caching);
  return true;
}
