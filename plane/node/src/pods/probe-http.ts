import { request as plainRequest } from 'node:http';
import { request as secureRequest } from 'node:https';
import type { Probe } from '@castellan/machinery';

type HttpGet = NonNullable<Probe['httpGet']>;

export interface HttpRequest {
  readonly url: URL;
  readonly headers: Record<string, string | string[]>;
}

const redirectLimit = 10;
const standardHeaders = [
  ['User-Agent', 'kube-probe/1.36'],
  ['Accept', '*/*'],
  ['Connection', 'close'],
] as const;

/** What `httpGet` of a probe or hook asks for. */
export function requestOf(
  { scheme, host, path = '/', httpHeaders = [] }: HttpGet,
  podIp: string,
  port: number,
): HttpRequest {
  const protocol = scheme === 'HTTPS' ? 'https' : 'http';
  const url = new URL(path.startsWith('/') ? path : `/${path}`, `${protocol}://${host ?? podIp}:${port}`);
  const own = new Map<string, readonly string[]>();
  for (const { name, value } of httpHeaders) {
    const known = [...own.keys()].find((other) => other.toLowerCase() === name.toLowerCase()) ?? name;
    own.set(known, [...(own.get(known) ?? []), value]);
  }
  const ownNames = new Set([...own.keys()].map((name) => name.toLowerCase()));
  const headers = Object.fromEntries([
    ...standardHeaders.filter(([name]) => !ownNames.has(name.toLowerCase())),
    // An empty value takes a header of ours away.
    ...[...own].flatMap(([name, values]) => (values.join('') === '' ? [] : [[name, headerValue(values)] as const])),
  ]);
  return { url, headers };
}

/**
 * The status of the answer. Redirects are followed on the same host; one to another host is the answer itself, as for
 * kubelet. Rejects, in Go's words, when there was none.
 */
export async function sendRequest({ url, headers }: HttpRequest, signal: AbortSignal): Promise<number> {
  let at = url;
  for (let redirects = 0; ; redirects += 1) {
    const { status, location } = await once(at, headers, signal);
    const next = location === undefined || status < 300 || status >= 400 ? undefined : new URL(location, at);
    if (next === undefined || next.hostname !== url.hostname) return status;
    if (redirects + 1 >= redirectLimit) throw new Error(`Get "${next}": stopped after ${redirectLimit} redirects`);
    at = next;
  }
}

/** Node takes lists for most headers, and not for all. */
function headerValue(values: readonly string[]): string | string[] {
  const [first = '', ...more] = values;
  return more.length === 0 ? first : [...values];
}

interface Reply {
  readonly status: number;
  readonly location: string | undefined;
}

function once(url: URL, headers: HttpRequest['headers'], signal: AbortSignal): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error) => {
      const why = signal.aborted
        ? 'context deadline exceeded (Client.Timeout exceeded while awaiting headers)'
        : dialProblem(error, `${url.hostname}:${portOf(url)}`);
      reject(new Error(`Get "${url}": ${why}`));
    };
    const options = { headers, signal };
    // As kubelet does, without looking at certificates: a probe asks whether it answers, not who it is.
    const sent =
      url.protocol === 'https:'
        ? secureRequest(url, { ...options, rejectUnauthorized: false })
        : plainRequest(url, options);
    sent.once('error', fail);
    sent.once('response', (response) => {
      response.destroy();
      resolve({ status: response.statusCode ?? 0, location: response.headers.location });
    });
    sent.end();
  });
}

/** What Go's dialer says of it. */
export function dialProblem(error: Error, address: string): string {
  const code = 'code' in error ? error.code : undefined;
  if (code === 'ECONNREFUSED') return `dial tcp ${address}: connect: connection refused`;
  if (code === 'EHOSTUNREACH') return `dial tcp ${address}: connect: no route to host`;
  if (code === 'ECONNRESET') return 'read: connection reset by peer';
  return error.message;
}

function portOf(url: URL): string {
  return url.port === '' ? (url.protocol === 'https:' ? '443' : '80') : url.port;
}
