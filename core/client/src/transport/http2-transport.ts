import tls from 'node:tls';
import type { World } from '@castellan/world';
import type { RawRequest, RawResponse } from '../client.js';
import { unlessAborted } from '../unless-aborted.js';
import { http1Transport } from './http1-transport.js';
import { Http2Session } from './http2-session.js';
import { type Transport, TransportClosedError } from './transport.js';

/** A server that allows few streams per connection gets more connections, up to this many. */
const maxSessions = 8;
const connectDeadlineMs = 15_000;

export interface Http2TransportOptions {
  readonly world: World;
  readonly tls: Readonly<tls.SecureContextOptions> & { readonly rejectUnauthorized?: boolean };
}

/**
 * HTTP/2 over TLS: one connection and many streams on it, a new one after GOAWAY, an error or silence. A server that does
 * not offer h2 in the handshake is spoken to in HTTP/1.1 from then on.
 */
export function http2Transport(server: URL, { world, tls: tlsOptions }: Http2TransportOptions): Transport {
  let sessions: Http2Session[] = [];
  let connecting: Promise<Http2Session | Transport> | undefined;
  let fallback: Transport | undefined;
  let isClosed = false;

  async function send(request: RawRequest): Promise<RawResponse> {
    for (;;) {
      request.signal?.throwIfAborted();
      if (isClosed) throw new TransportClosedError();
      if (fallback !== undefined) return fallback.send(request);
      sessions = sessions.filter((session) => session.isServing);
      const session = sessions.find(({ hasRoom }) => hasRoom);
      if (session !== undefined) return session.send(request);
      const last = sessions.at(-1);
      if (last !== undefined && sessions.length >= maxSessions) return last.send(request);
      await connectOnce(request.signal);
    }
  }

  /** All requests that need a connection wait for the same one; one that is aborted stops waiting alone. */
  function connectOnce(signal: AbortSignal | undefined): Promise<unknown> {
    connecting ??= connect().finally(() => {
      connecting = undefined;
    });
    return signal === undefined ? connecting : unlessAborted(connecting, signal);
  }

  async function connect(): Promise<Http2Session | Transport> {
    const socket = await openTlsSocket(server, tlsOptions, world);
    if (isClosed) {
      socket.destroy();
      throw new TransportClosedError();
    }
    if (socket.alpnProtocol !== 'h2') {
      socket.destroy();
      fallback = http1Transport(server, tlsOptions);
      return fallback;
    }
    const session = new Http2Session(server, socket, world);
    const cancelDeadline = world.clock.after(connectDeadlineMs, () => session.destroy(tooLate()));
    await session.untilSettled().finally(cancelDeadline);
    if (isClosed) {
      session.destroy();
      throw new TransportClosedError();
    }
    sessions.push(session);
    return session;
  }

  return {
    send,
    async close() {
      isClosed = true;
      for (const session of sessions) session.destroy();
      sessions = [];
      await fallback?.close();
    },
  };
}

function tooLate(): Error {
  return new Error(`no connection within ${connectDeadlineMs / 1000} s`);
}

function openTlsSocket(server: URL, options: Http2TransportOptions['tls'], world: World): Promise<tls.TLSSocket> {
  return new Promise((resolve, reject) => {
    const host = server.hostname.replace(/^\[|\]$/g, '');
    const isAddress = /^[\d.]+$|:/.test(host);
    const socket = tls.connect({
      host,
      port: server.port === '' ? 443 : Number(server.port),
      ...(isAddress ? {} : { servername: host }),
      ALPNProtocols: ['h2', 'http/1.1'],
      ...options,
    });
    const cancelDeadline = world.clock.after(connectDeadlineMs, () => socket.destroy(tooLate()));
    const onError = (error: Error): void => {
      cancelDeadline();
      reject(error);
    };
    socket.once('error', onError);
    socket.once('secureConnect', () => {
      cancelDeadline();
      socket.off('error', onError);
      socket.setNoDelay(true);
      resolve(socket);
    });
  });
}
