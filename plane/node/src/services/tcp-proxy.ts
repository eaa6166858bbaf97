import { connect, createServer, type Server, type Socket } from 'node:net';
import type { Backend } from './service-backends.js';

const connectTimeoutMs = 5_000;

/** Forwards connections to one port of a service address to its backends in turn. */
export class TcpProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #backends: readonly Backend[] = [];
  #next = 0;

  private constructor() {
    // What one side has ended the other may still write to.
    this.#server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (client) => this.#forward(client));
  }

  static async listen(
    at: { readonly address: string; readonly port: number; readonly connectionLimit: number },
    backends: readonly Backend[],
  ): Promise<TcpProxy> {
    const proxy = new TcpProxy();
    proxy.#backends = backends;
    proxy.#server.maxConnections = at.connectionLimit;
    await new Promise<void>((resolve, reject) => {
      proxy.#server.once('error', reject);
      proxy.#server.listen(at.port, at.address, resolve);
    });
    return proxy;
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  /** New connections go to these; those that stand stay where they are. */
  setBackends(backends: readonly Backend[]): void {
    this.#backends = backends;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  /** Tries each backend once, beginning with the one whose turn it is; resets the connection when none answers. */
  #forward(client: Socket): void {
    this.#track(client);
    this.#next += 1;
    const turn = this.#next;
    const backends = this.#backends;
    const attempt = (count: number) => {
      const backend = backends[(turn + count) % backends.length];
      if (backend === undefined || count >= backends.length || client.destroyed) {
        client.resetAndDestroy();
        return;
      }
      const server = connect({ host: backend.address, port: backend.port, allowHalfOpen: true });
      this.#track(server);
      server.setTimeout(connectTimeoutMs, () => server.destroy(new Error('no answer')));
      const fail = () => attempt(count + 1);
      server.once('error', fail);
      server.once('connect', () => {
        server.off('error', fail);
        server.setTimeout(0);
        join(client, server);
      });
    };
    attempt(0);
  }

  #track(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    socket.on('error', () => socket.destroy());
  }
}

function join(client: Socket, server: Socket): void {
  client.setNoDelay(true);
  server.setNoDelay(true);
  client.pipe(server);
  server.pipe(client);
  client.once('close', () => server.destroy());
  server.once('close', () => client.destroy());
}
