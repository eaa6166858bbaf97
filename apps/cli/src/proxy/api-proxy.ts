import {
  type ClientRequest,
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type RequestOptions,
  type Server,
  type ServerResponse,
} from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';
import type { Duplex } from 'node:stream';
import type { ClusterConfig } from '@castellan/client';
import { refusalOf } from './request-gate.js';

export interface ApiProxy {
  readonly url: string;
  /** Ends open connections too. */
  close(): Promise<void>;
}

const host = '127.0.0.1';
/** Of one connection, or replaced by what we know better. */
const ownHeaders: readonly string[] = [
  'authorization',
  'connection',
  'host',
  'keep-alive',
  'origin',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];

/**
 * The API server on a loopback port, with the kubeconfig's credentials added to each request: for browsers and programs that have none.
 * Watches and upgraded connections (WebSockets) pass. What `refusalOf` refuses is answered with 403.
 *
 * Rejects when the port is taken.
 */
export async function openApiProxy(cluster: ClusterConfig, port: number): Promise<ApiProxy> {
  const upgraded = new Set<Duplex>();
  const forward = forwarderTo(cluster);
  const server: Server = createServer((request, response) => {
    const refusal = refusalOf({ url: request.url ?? '', headers: request.headers }, portOf(server));
    if (refusal === undefined) pass(request, response, forward);
    else answer(response, 403, refusal);
  });
  server.on('upgrade', (request, socket, head) => {
    upgraded.add(socket);
    socket.once('close', () => upgraded.delete(socket));
    socket.on('error', () => socket.destroy());
    const refusal = refusalOf({ url: request.url ?? '', headers: request.headers }, portOf(server));
    if (refusal === undefined) passUpgrade(request, socket, { head, forward });
    else
      socket.end(`HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Length: ${refusal.length}\r\n\r\n${refusal}`);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return {
    url: `http://${host}:${portOf(server)}`,
    async close() {
      for (const socket of upgraded) socket.destroy();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

type Forward = (request: IncomingMessage, headers: Readonly<Record<string, string | string[]>>) => ClientRequest;

function forwarderTo(cluster: ClusterConfig): Forward {
  const { protocol, hostname, port } = new URL(cluster.server);
  const isSecure = protocol === 'https:';
  const agent = new Agent({
    keepAlive: true,
    ...(cluster.caCertificate === undefined ? {} : { ca: cluster.caCertificate }),
    ...(cluster.clientCertificate === undefined ? {} : { cert: cluster.clientCertificate }),
    ...(cluster.clientKey === undefined ? {} : { key: cluster.clientKey }),
    ...(cluster.insecureSkipTlsVerify === true ? { rejectUnauthorized: false } : {}),
  });
  const credentials = cluster.token === undefined ? {} : { authorization: `Bearer ${cluster.token}` };
  return ({ method = 'GET', url = '/', headers: given }, headers) => {
    const passed = Object.fromEntries(
      Object.entries(given).filter(([name, value]) => value !== undefined && !ownHeaders.includes(name)),
    );
    const options: RequestOptions = {
      ...{ method, hostname, port, path: url },
      headers: { ...passed, ...credentials, ...headers },
    };
    return isSecure ? httpsRequest({ ...options, agent }) : httpRequest(options);
  };
}

function pass(request: IncomingMessage, response: ServerResponse, forward: Forward): void {
  const sent = forward(request, {});
  response.once('close', () => sent.destroy());
  sent.once('response', (reply) => {
    const headers = Object.entries(reply.headers).filter(
      ([name]) => name === 'transfer-encoding' || !ownHeaders.includes(name),
    );
    response.writeHead(reply.statusCode ?? 502, Object.fromEntries(headers));
    // A watch sends nothing for a long time: its client waits for the headers.
    response.flushHeaders();
    reply.pipe(response);
    reply.once('error', () => response.destroy());
  });
  sent.once('error', (error) => {
    if (response.headersSent) response.destroy();
    else answer(response, 502, `the API server did not answer: ${error.message}`);
  });
  request.pipe(sent);
}

function passUpgrade(
  request: IncomingMessage,
  socket: Duplex,
  { head, forward }: { readonly head: Buffer; readonly forward: Forward },
): void {
  const sent = forward(request, { connection: 'Upgrade', upgrade: request.headers.upgrade ?? '' });
  socket.once('close', () => sent.destroy());
  sent.once('upgrade', (reply, server, serverHead) => {
    socket.write(headOf(reply));
    socket.write(serverHead);
    server.write(head);
    server.on('error', () => socket.destroy());
    server.once('close', () => socket.destroy());
    socket.once('close', () => server.destroy());
    server.pipe(socket).pipe(server);
  });
  sent.once('response', (reply) => {
    socket.write(headOf(reply));
    reply.pipe(socket);
  });
  sent.once('error', () => socket.end('HTTP/1.1 502 Bad Gateway\r\nConnection: close\r\nContent-Length: 0\r\n\r\n'));
  sent.end();
}

function headOf({ statusCode = 502, statusMessage = '', rawHeaders }: IncomingMessage): string {
  const lines = [`HTTP/1.1 ${statusCode} ${statusMessage}`];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2)
    lines.push(`${rawHeaders[index]}: ${rawHeaders[index + 1]}`);
  return `${lines.join('\r\n')}\r\n\r\n`;
}

function answer(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(`${text}\n`);
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}
