import type { IncomingMessage } from 'node:http';
import {
  createSecureServer,
  type Http2SecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';
import { type ApiRequest, credentialIdKey, type ResponseWriter, type User } from './http.js';
import { nodeRequest, nodeWriter, streamRequest, streamWriter } from './node-http.js';
import { PortInUseError } from './port-in-use-error.js';
import { upgradeRequest, upgradeWriter } from './upgrade-http.js';

export interface ListenOptions {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  readonly tls: TlsMaterial;
}

/** PEM texts. Client certificates are asked for, and believed when `clientCa` signed them. */
export interface TlsMaterial {
  readonly key: string;
  readonly certificate: string;
  readonly clientCa: string;
}

export type RequestHandler = (request: ApiRequest, writer: ResponseWriter) => void;

export interface Listener {
  readonly port: number;
  /** Ends every connection, whatever is on it. */
  close(): Promise<void>;
}

/** One client's connection carries hundreds of watches. */
const maxConcurrentStreams = 2000;

/** TLS with HTTP/2 or HTTP/1.1, as the client negotiates, on one port. */
export async function listen(options: ListenOptions, handler: RequestHandler): Promise<Listener> {
  const { key, certificate, clientCa } = options.tls;
  const server = createSecureServer({
    key,
    cert: certificate,
    ca: clientCa,
    allowHTTP1: true,
    requestCert: true,
    rejectUnauthorized: false,
    settings: { maxConcurrentStreams, initialWindowSize: 1024 * 1024 },
  });
  const sockets = new Set<Socket>();
  const sessions = new Set<ServerHttp2Session>();
  // Before its handshake as well: a client that never ends one must not hold up `close`.
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.on('secureConnection', (socket: TLSSocket) => {
    socket.on('error', () => socket.destroy());
  });
  server.on('tlsClientError', () => {});
  server.on('session', (session) => {
    sessions.add(session);
    session.on('close', () => sessions.delete(session));
    session.on('error', () => session.destroy());
  });
  server.on('sessionError', () => {});
  // With a listener for requests Node makes a request and a response of HTTP/1's kind for each stream, at a fifth of what a
  // GET costs. Streams are served below, and HTTP/1.1 needs no such listener.
  server.on('request', (request: Http2ServerRequest, response: Http2ServerResponse) => {
    handler(nodeRequest(request, userOf(request.socket)), nodeWriter(response));
  });
  server.removeAllListeners('stream');
  server.on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
    stream.on('error', () => {});
    if (headers.expect === '100-continue') stream.additionalHeaders({ ':status': 100 });
    handler(streamRequest(stream, headers, userOf(stream.session?.socket)), streamWriter(stream));
  });
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, firstBytes: Buffer) => {
    socket.on('error', () => socket.destroy());
    handler(upgradeRequest(request, socket, userOf(request.socket)), upgradeWriter(socket, firstBytes));
  });
  const port = await bind(server, options);
  return {
    port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const session of sessions) session.destroy();
        for (const socket of sockets) socket.destroy();
      }),
  };
}

function bind(server: Http2SecureServer, { host, port }: ListenOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(error.code === 'EADDRINUSE' ? new PortInUseError(host, port, error) : error);
    });
    server.listen(port, host, () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : port);
    });
  });
}

/** Reading a certificate costs as much as serving a small request, so it is read once for each connection. */
const users = new WeakMap<TLSSocket, User | undefined>();

function userOf(socket: unknown): User | undefined {
  if (!(socket instanceof TLSSocket) || !socket.authorized) return undefined;
  if (!users.has(socket)) users.set(socket, certificateUserOf(socket));
  return users.get(socket);
}

/** The name and groups in a client certificate that our authority signed: CN and every O; and which certificate it was. */
function certificateUserOf(socket: TLSSocket): User | undefined {
  const { subject, fingerprint256 } = socket.getPeerCertificate();
  // Node types CN and O as texts, but gives a list where a name repeats.
  const organizations: unknown = subject?.O;
  const groups = (Array.isArray(organizations) ? organizations : [organizations]).filter(
    (name) => typeof name === 'string',
  );
  if (subject?.CN === undefined) return undefined;
  const credential = `X509SHA256=${fingerprint256.replaceAll(':', '').toLowerCase()}`;
  return { name: String(subject.CN), groups, extra: { [credentialIdKey]: [credential] } };
}
