import type { Duplex } from 'node:stream';
import { badRequest } from '../errors.js';
import type { KnownExchange } from '../request/exchange.js';
import type { Server } from '../request/server.js';
import { admitConnection, assertUpgrade, type Connection } from './connect.js';
import { forwardPort } from './forward-port.js';
import { chooseVersion, isSpdy, refuseVersions, spdyHeaders } from './spdy-handshake.js';
import { SpdySession, type SpdyStream } from './spdy-session.js';
import { codingOf, WebSocketChannels } from './web-socket-channels.js';
import { chooseProtocol, handshakeHeaders, isWebSocket, offeredProtocols } from './web-socket-handshake.js';
import { WebSocketTunnel } from './web-socket-tunnel.js';

const version = 'portforward.k8s.io';
/** SPDY's bytes within a WebSocket connection: kubectl from 1.31 on. */
const tunnelProtocol = `SPDY/3.1+${version}`;
/** Two channels for each port that the query names: browsers, and @kubernetes/client-node. */
const channelProtocols: readonly string[] = ['v4.channel.k8s.io', 'v4.base64.channel.k8s.io', ''];
/** The second stream of a connection that does not come is not waited for. */
const pairDeadlineMs = 30_000;
const portLimit = 100;

/** GET and POST pods/NAME/portforward: connections to ports of a pod, over one connection. */
export async function servePortForward(server: Server, exchange: KnownExchange): Promise<void> {
  const { request, reply } = exchange;
  const asked = request.query.getAll('ports').flatMap((value) => value.split(','));
  const connection = await admitConnection(server, exchange, {
    kind: 'PodPortForwardOptions',
    options: asked.length === 0 ? {} : { ports: asked.map(Number) },
  });
  assertUpgrade(exchange);
  if (isWebSocket(request) && offeredProtocols(request).includes(tunnelProtocol)) {
    const transport = reply.switchProtocols(handshakeHeaders(request, tunnelProtocol));
    forwardStreams(server, connection, new WebSocketTunnel(transport, server.world));
    return;
  }
  if (isWebSocket(request)) {
    const ports = portsOf(asked);
    const protocol = chooseProtocol(request, channelProtocols);
    forwardChannels(server, connection, reply.switchProtocols(handshakeHeaders(request, protocol)), {
      ports,
      protocol,
    });
    return;
  }
  if (!isSpdy(request)) {
    throw badRequest(`unable to upgrade: the protocol ${JSON.stringify(request.upgrade)} is not known`);
  }
  if (chooseVersion(request, [version]) === undefined) return refuseVersions(request, [version], reply);
  forwardStreams(server, connection, reply.switchProtocols(spdyHeaders(version)));
}

function portsOf(asked: readonly string[]): readonly number[] {
  if (asked.length === 0) throw badRequest('query parameter "port" is required');
  if (asked.length > portLimit) throw badRequest(`at most ${portLimit} ports can be forwarded over one connection`);
  return asked.map((text) => {
    const port = parsePort(text);
    if (port === undefined) throw badRequest(`unable to parse ${JSON.stringify(text)} as a port`);
    return port;
  });
}

function parsePort(text: string): number | undefined {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  return port > 0 && port <= 0xffff ? port : undefined;
}

/** Streams in pairs, one for data and one for errors, which name their port and the connection that they belong to. */
function forwardStreams(server: Server, connection: Connection, transport: Duplex): void {
  const waiting = new Map<string, SpdyStream>();
  new SpdySession(transport, server.world, {
    opened(stream) {
      const type = stream.headers.get('streamtype');
      const port = parsePort(stream.headers.get('port') ?? '');
      if ((type !== 'data' && type !== 'error') || port === undefined) {
        stream.destroy();
        return;
      }
      // Clients of old name no connection: their data stream follows its error stream.
      const id = stream.headers.get('requestid') ?? String(type === 'error' ? stream.id : stream.id - 2);
      const other = waiting.get(id);
      if (other === undefined) {
        waiting.set(id, stream);
        const cancel = server.world.clock.after(pairDeadlineMs, () => stream.destroy());
        stream.once('close', () => {
          cancel();
          waiting.delete(id);
        });
        stream.once('paired', cancel);
        return;
      }
      waiting.delete(id);
      other.emit('paired');
      const streams = type === 'data' ? { data: stream, error: other } : { data: other, error: stream };
      void forwardPort(connection, port, streams);
    },
    closed: () => waiting.clear(),
  });
}

/** Each channel begins with its port in two bytes, the lower one first, as upstream's does. */
function forwardChannels(
  server: Server,
  connection: Connection,
  transport: Duplex,
  { ports, protocol }: { readonly ports: readonly number[]; readonly protocol: string },
): void {
  const channels = new WebSocketChannels(transport, {
    world: server.world,
    coding: codingOf(protocol),
    count: 2 * ports.length,
    reads: ports.map((_, index) => 2 * index),
    closed: () => undefined,
  });
  for (const [index, port] of ports.entries()) {
    const data = channels.channel(2 * index);
    const error = channels.channel(2 * index + 1);
    const name = Buffer.alloc(2);
    name.writeUInt16LE(port);
    data.write(name);
    error.write(name);
    void forwardPort(connection, port, { data, error });
  }
}
