import { request as httpRequest, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import { StatusError } from '@castellan/machinery';
import type { KnownExchange } from '../request/exchange.js';
import { statusOf } from '../request/reply.js';
import type { Server } from '../request/server.js';
import { admitOptions, nodeOf } from './connect.js';
import { type ProxyTarget, proxyTarget } from './proxy-target.js';

const bodyLimitBytes = 64 * 1024 * 1024;
/** Of one connection, or about who asks: never passed on. */
const ownHeaders: readonly string[] = [
  'authorization',
  'connection',
  'content-length',
  'host',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];

/** What a program in a pod answered; with `socket` it left HTTP, and `first` are its first bytes after that. */
interface Answer {
  readonly message: IncomingMessage;
  readonly switched?: { readonly socket: Duplex; readonly first: Buffer };
}

/**
 * Any method on pods/NAME/proxy/PATH and services/NAME/proxy/PATH: a request to a program in a pod, passed on. A connection that changes its
 * protocol there (a WebSocket) is joined through.
 */
export async function serveProxy(server: Server, exchange: KnownExchange): Promise<void> {
  const { info, request, reply } = exchange;
  const [, prefix = '', path = ''] = /^((?:\/[^/]*){7})(.*)$/s.exec(request.path) ?? [];
  const kind = info.plural === 'pods' ? 'PodProxyOptions' : 'ServiceProxyOptions';
  await admitOptions(server, exchange, { kind, options: path === '' ? {} : { path } });
  const target = await proxyTarget(server, exchange);
  const query = request.query.size === 0 ? '' : `?${request.query}`;
  if (path === '') {
    // So that the links of a page lead below it.
    reply.text(301, '', 'text/plain; charset=utf-8', { location: `${prefix}/${query}` });
    return;
  }
  const { message: answer, switched } = await ask(server, exchange, { target, path: path + query });
  if (switched !== undefined) {
    const { upgrade = '' } = answer.headers;
    joinSockets(reply.switchProtocols({ ...passed(answer.headers), upgrade }), switched);
    return;
  }
  const location = answer.headers.location;
  const headers = {
    ...passed(answer.headers),
    ...(location?.startsWith('/') === true ? { location: prefix + location } : {}),
  };
  const writer = reply.passOn(answer.statusCode ?? 502, headers);
  try {
    for await (const chunk of answer) {
      if (writer.isEnded) break;
      if (!writer.write(chunk)) await new Promise<void>((resolve) => writer.onDrain(resolve));
    }
  } finally {
    if (!writer.isEnded) writer.end();
  }
}

/** Sends the request on. Fails with a 503 in upstream's words when nobody answers. */
async function ask(
  server: Server,
  { info, request }: KnownExchange,
  { target, path }: { readonly target: ProxyTarget; readonly path: string },
): Promise<Answer> {
  const gone = new AbortController();
  request.onClose(() => gone.abort());
  try {
    const body = await request.body(bodyLimitBytes);
    const wish = { namespace: info.namespace ?? '', pod: target.pod, port: target.port, at: 'address' } as const;
    const socket = await nodeOf(server, target).connect(wish, gone.signal);
    const { upgrade } = request.headers;
    const wanted = request.upgrade === undefined || upgrade === undefined ? {} : { connection: 'Upgrade', upgrade };
    return await new Promise<Answer>((resolve, reject) => {
      const sent = httpRequest({
        method: request.method,
        path,
        createConnection: () => (target.isSecure ? secured(socket) : socket),
        headers: {
          ...passed(request.headers),
          host: `${target.pod}:${target.port}`,
          'x-forwarded-uri': request.path,
          ...(body.length === 0 ? {} : { 'content-length': body.length }),
          ...wanted,
        },
        signal: gone.signal,
      });
      sent.once('response', (message) => resolve({ message }));
      sent.once('upgrade', (message, own, first) => resolve({ message, switched: { socket: own, first } }));
      sent.once('error', reject);
      sent.end(body);
    });
  } catch (error) {
    if (error instanceof StatusError) throw error;
    const problem = (statusOf(error).message ?? '').replace(/^Internal error occurred: /, '');
    throw StatusError.of('ServiceUnavailable', `error trying to reach service: ${problem}`);
  }
}

/** Until one of both ends. */
function joinSockets(client: Duplex, { socket, first }: NonNullable<Answer['switched']>): void {
  if (first.length > 0) socket.unshift(first);
  for (const [from, to] of [
    [client, socket],
    [socket, client],
  ] as const) {
    from.on('error', () => to.destroy());
    from.once('close', () => to.destroy());
    from.pipe(to);
  }
}

/** As upstream, without a look at certificates: a pod has none that anybody here could know. */
function secured(socket: Duplex): Duplex {
  return connectTls({ socket, rejectUnauthorized: false });
}

function passed(headers: Readonly<Record<string, string | readonly string[] | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => {
      const isOwn = name.startsWith(':') || name.startsWith('impersonate-') || ownHeaders.includes(name);
      return isOwn || value === undefined ? [] : [[name, typeof value === 'string' ? value : value.join(', ')]];
    }),
  );
}
