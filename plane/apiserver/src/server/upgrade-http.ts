import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ApiRequest, ResponseWriter, User } from './http.js';
import { flat, onDrainOrClose, urlOf } from './node-http.js';
import { withWebSocketToken } from './web-socket-token.js';

/** A request of HTTP/1.1 that asks for another protocol. It has no body: what follows is of that protocol. */
export function upgradeRequest(request: IncomingMessage, socket: Duplex, user: User | undefined): ApiRequest {
  return {
    method: request.method ?? 'GET',
    ...urlOf(request.url ?? '/'),
    headers: withWebSocketToken(flat(request.headers)),
    ...(user === undefined ? {} : { certificateUser: user }),
    upgrade: (request.headers.upgrade ?? '').toLowerCase(),
    remoteAddress: () => request.socket.remoteAddress,
    body: () => Promise.resolve(new Uint8Array()),
    onClose: (callback) => {
      if (socket.destroyed) callback();
      else socket.once('close', callback);
    },
  };
}

/** Its writer: the reply to a request that is not granted its protocol is the connection's last. */
export function upgradeWriter(socket: Duplex, firstBytes: Buffer): ResponseWriter {
  const isGone = () => socket.destroyed || socket.writableEnded;
  const head = (status: number, headers: Readonly<Record<string, string>>) => {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n`);
  };
  return {
    head(status, headers) {
      if (!isGone()) head(status, { date: new Date().toUTCString(), ...headers, connection: 'close' });
    },
    write: (chunk) => (isGone() ? true : socket.write(chunk)),
    end(chunk) {
      if (isGone()) return;
      if (chunk === undefined) socket.end();
      else socket.end(chunk);
    },
    onDrain: (callback) => onDrainOrClose(socket, callback),
    get isEnded() {
      return isGone();
    },
    switchProtocols(headers) {
      head(101, { connection: 'Upgrade', ...headers });
      if (firstBytes.length > 0) socket.unshift(firstBytes);
      return socket;
    },
  };
}
