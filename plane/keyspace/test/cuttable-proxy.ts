import { createConnection, createServer, type Server, type Socket } from 'node:net';

/** A way to an etcd that can be cut and mended, without the etcd noticing more than that its clients are gone. */
export class CuttableProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #isCut = false;
  /** Towards the target, in bytes. */
  forwarded = 0;

  private constructor(target: string) {
    const [host = '', port] = target.split(':');
    this.#server = createServer((client) => {
      if (this.#isCut) {
        client.destroy();
        return;
      }
      const upstream = createConnection({ host, port: Number(port) });
      for (const socket of [client, upstream]) {
        this.#sockets.add(socket);
        socket.on('error', () => undefined);
        socket.once('close', () => {
          this.#sockets.delete(socket);
          client.destroy();
          upstream.destroy();
        });
      }
      client.on('data', (bytes) => (this.forwarded += bytes.length));
      client.pipe(upstream).pipe(client);
    });
  }

  static async to(target: string): Promise<CuttableProxy> {
    const proxy = new CuttableProxy(target);
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get endpoint(): string {
    const address = this.#server.address();
    return `127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
  }

  get connections(): number {
    return this.#sockets.size / 2;
  }

  /** Every connection is lost, and new ones too, until it is mended. */
  cut(): void {
    this.#isCut = true;
    this.drop();
  }

  mend(): void {
    this.#isCut = false;
  }

  /** Every connection is lost; new ones are possible. */
  drop(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
