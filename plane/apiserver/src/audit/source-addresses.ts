import { isIP } from 'node:net';
import type { ApiRequest } from '../server/http.js';

/**
 * Where a request comes from: what proxies say of it, then who is connected, unless the last proxy says just that. Only the
 * last of them is sure.
 */
export function sourceAddresses({ headers, remoteAddress }: ApiRequest): readonly string[] {
  const told = [headers['x-forwarded-for'], headers['x-real-ip']]
    .flatMap((header) => (header ?? '').split(','))
    .map((address) => address.trim())
    .filter((address) => isIP(address) !== 0);
  const connected = remoteAddress?.();
  return connected === undefined || told.at(-1) === connected ? told : [...told, connected];
}
