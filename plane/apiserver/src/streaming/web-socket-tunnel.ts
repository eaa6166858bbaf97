import { Duplex } from 'node:stream';
import type { World } from '@castellan/world';
import { WebSocket } from './web-socket.js';

/** A stream of bytes through a WebSocket connection: its messages' borders mean nothing (KEP-4006). */
export class WebSocketTunnel extends Duplex {
  readonly #socket: WebSocket;

  constructor(transport: Duplex, world: World) {
    super({ allowHalfOpen: true });
    this.on('error', () => undefined);
    this.#socket = new WebSocket(transport, world, {
      message: (data) => {
        if (!this.readableEnded && !this.destroyed && !this.push(data)) this.#socket.pause();
      },
      closed: () => this.destroy(),
    });
  }

  override _read(): void {
    this.#socket.resume();
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    this.#socket.send(chunk, done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#socket.close();
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#socket.close();
    done(error);
  }
}
