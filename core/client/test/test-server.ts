import http2 from 'node:http2';
import type { AddressInfo } from 'node:net';
import { certificate, key } from './self-signed.js';

type Handler = (request: http2.Http2ServerRequest, response: http2.Http2ServerResponse) => void;

export interface TestServer {
  readonly url: string;
  readonly sessions: ReadonlySet<http2.ServerHttp2Session>;
  /** How many connections were ever accepted. */
  readonly connections: number;
  close(): Promise<void>;
}

/** A server on loopback as the API server is: TLS, h2 and HTTP/1.1 by ALPN, on a port of the system's choice. */
export async function startTestServer(handler: Handler, options: http2.SecureServerOptions = {}): Promise<TestServer> {
  const sessions = new Set<http2.ServerHttp2Session>();
  let connections = 0;
  const server = http2.createSecureServer({ key, cert: certificate, allowHTTP1: true, ...options }, handler);
  server.on('session', (session) => {
    sessions.add(session);
    session.once('close', () => sessions.delete(session));
    session.on('error', () => undefined);
  });
  server.on('secureConnection', (socket) => {
    connections += 1;
    socket.on('error', () => undefined);
  });
  const sockets = new Set<{ destroy(): void }>();
  server.on('connection', (socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `https://127.0.0.1:${port}`,
    sessions,
    get connections() {
      return connections;
    },
    close() {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

export function reply(response: http2.Http2ServerResponse, code: number, body: unknown, headers = {}): void {
  response.writeHead(code, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

export async function bodyOf(request: http2.Http2ServerRequest): Promise<unknown> {
  let text = '';
  for await (const chunk of request) text += chunk;
  return text === '' ? undefined : JSON.parse(text);
}
