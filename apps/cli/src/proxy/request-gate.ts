import type { IncomingHttpHeaders } from 'node:http';

export interface GatedRequest {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
}

const loopbackNames: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];
/** Into containers leads no way that a page could be tricked to take; as `kubectl proxy` has it by default. */
const refusedPaths = /^\/api\/.*\/pods\/.*\/(exec|attach)(\?|$)/;

/**
 * Why a request is not passed on; `undefined` when it is. The proxy adds an administrator's credentials, so a page from elsewhere that
 * runs in a browser on this machine must not get through: not by a name of its own that leads to loopback (Host), not by a script (Origin), and not
 * by an image or a form, which browsers send without an origin (Sec-Fetch-Site).
 */
export function refusalOf({ url, headers }: GatedRequest, port: number): string | undefined {
  const { host = '', origin, 'sec-fetch-site': site = 'none' } = headers;
  const own = loopbackNames.map((name) => `${name}:${port}`);
  const isLoopback = loopbackNames.includes(host.replace(/:\d+$/, '').toLowerCase());
  if (!isLoopback) return `host ${JSON.stringify(host)} is not this machine's loopback`;
  if (origin !== undefined && !own.some((name) => origin === `http://${name}`)) {
    return `requests of pages from ${JSON.stringify(origin)} are not passed on`;
  }
  if (site !== 'none' && site !== 'same-origin') return 'requests of pages from elsewhere are not passed on';
  if (refusedPaths.test(url)) return 'commands in containers are not passed on; use kubectl exec or attach';
  return undefined;
}
