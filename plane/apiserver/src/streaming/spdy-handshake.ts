import type { Reply } from '../request/reply.js';
import type { ApiRequest } from '../server/http.js';

const versionHeader = 'x-stream-protocol-version';

export function isSpdy({ upgrade }: ApiRequest): boolean {
  return upgrade === 'spdy/3.1';
}

/** The client's first protocol version that is supported; the last supported one when it names none. */
export function chooseVersion({ headers }: ApiRequest, supported: readonly string[]): string | undefined {
  const offered = (headers[versionHeader] ?? '').split(',').flatMap((name) => name.trim() || []);
  return offered.length === 0 ? supported.at(-1) : offered.find((name) => supported.includes(name));
}

/** The headers of the 101 that begins SPDY. */
export function spdyHeaders(version: string): Readonly<Record<string, string>> {
  return { upgrade: 'SPDY/3.1', [versionHeader]: version };
}

/** 403, as upstream answers a client that speaks other versions only. */
export function refuseVersions({ headers }: ApiRequest, supported: readonly string[], reply: Reply): void {
  const text = `unable to upgrade: unable to negotiate protocol: client supports [${headers[versionHeader] ?? ''}], server accepts [${supported.join(' ')}]`;
  reply.text(403, `${text}\n`, 'text/plain; charset=utf-8', {
    'x-accepted-stream-protocol-versions': supported.join(', '),
  });
}
