import { createSocket, type Socket as DatagramSocket } from 'node:dgram';
import { createServer, type Server, type Socket } from 'node:net';
import { answerQuery, type DnsNames } from './dns-answer.js';
import { frameMessage, readMessages } from './message-stream.js';

export interface DnsServerOptions extends DnsNames {
  /** The bridge's, so that pods of this plane alone reach it. */
  readonly address: string;
  readonly port?: number;
}

const connectionLimit = 64;
const idleMs = 10_000;
/** Bytes of answers that a connection may leave unread. */
const unreadLimit = 256 * 1024;

/** Cluster DNS over UDP and TCP. Answers from memory; a query never waits for the API server. */
export class DnsServer {
  readonly #names: DnsNames;
  readonly #udp: DatagramSocket;
  readonly #tcp: Server;
  readonly #connections = new Set<Socket>();
  /** Answers that come from other name servers later have no socket any more. */
  #isClosed = false;

  private constructor(names: DnsNames) {
    this.#names = names;
    this.#udp = createSocket('udp4');
    this.#tcp = createServer((socket) => this.#serve(socket));
    this.#tcp.maxConnections = connectionLimit;
  }

  /** Resolves when it listens; rejects when the port is taken. */
  static async listen(options: DnsServerOptions): Promise<DnsServer> {
    const { address, port = 53 } = options;
    try {
      return await DnsServer.#listen(options, { address, port });
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new Error(
        `cluster DNS cannot listen on ${address}:${port}: ${why}; next: see who does (ss -lunp sport = :${port}) and let it listen on its own addresses only`,
        { cause: error },
      );
    }
  }

  static async #listen(
    names: DnsNames,
    { address, port }: { readonly address: string; readonly port: number },
  ): Promise<DnsServer> {
    const server = new DnsServer(names);
    await new Promise<void>((resolve, reject) => {
      server.#udp.once('error', reject);
      server.#udp.bind(port, address, resolve);
    });
    server.#udp.removeAllListeners('error');
    // A pod that is gone when its answer comes back makes an error here; nobody waits for it.
    server.#udp.on('error', () => undefined);
    server.#udp.on('message', (query, from) => {
      // Nothing can be sent to port 0, which a datagram may come from.
      if (from.port === 0) return;
      void answerQuery(query, 'udp', names).then((reply) => {
        if (reply !== undefined && !server.#isClosed) server.#udp.send(reply, from.port, from.address, () => undefined);
      });
    });
    try {
      await new Promise<void>((resolve, reject) => {
        server.#tcp.once('error', reject);
        server.#tcp.listen(server.#udp.address().port, address, resolve);
      });
    } catch (error) {
      server.#isClosed = true;
      server.#udp.close();
      throw error;
    }
    return server;
  }

  get port(): number {
    return this.#udp.address().port;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const socket of this.#connections) socket.destroy();
    await new Promise<void>((resolve) => this.#udp.close(resolve));
    await new Promise<void>((resolve) => this.#tcp.close(() => resolve()));
  }

  #serve(socket: Socket): void {
    this.#connections.add(socket);
    socket.setTimeout(idleMs, () => socket.destroy());
    socket.once('close', () => this.#connections.delete(socket));
    socket.on('error', () => socket.destroy());
    readMessages(socket, (query) => {
      void answerQuery(query, 'tcp', this.#names).then((reply) => {
        if (reply === undefined || socket.destroyed) return;
        socket.write(frameMessage(reply));
        if (socket.writableLength > unreadLimit) socket.destroy();
      });
    });
  }
}
