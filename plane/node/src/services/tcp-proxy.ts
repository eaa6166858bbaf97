import { connect, createServer, type Server, type Socket } from 'node:net';
import type { BackendChoice } from './backend-choice.js';

const connectTimeoutMs = 5_000;

/** Forwards connections to one port of a service address to its backends, until `close`; those that stand go on after it. */
export class TcpProxy {
  readonly #server: Server;
  readonly #choice: BackendChoice;
  readonly #sockets = new Set<Socket>();

  private constructor(choice: BackendChoice) {
    this.#choice = choice;
    // What one side has ended the other may still write to.
    this.#server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (client) => this.#forward(client));
  }

  static async listen(
    at: { readonly address: string; readonly port: number; readonly connectionLimit: number },
    choice: BackendChoice,
  ): Promise<TcpProxy> {
    const proxy = new TcpProxy(choice);
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

  /** Takes no more connections; resolves when those that stand have ended. */
  async close(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  /** Ends those that stand. */
  disconnect(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Tries each backend once; resets the connection when none answers. */
  #forward(client: Socket): void {
    this.#track(client);
    const from = client.remoteAddress ?? '';
    const backends = this.#choice.order(from);
    const attempt = (count: number) => {
      const backend = backends[count];
      if (backend === undefined || client.destroyed) {
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
        this.#choice.chosen(from, backend);
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
