import { Duplex } from 'node:stream';
import type { World } from '@castellan/world';
import {
  dataHead,
  goAwayFrame,
  pingFrame,
  replyFrame,
  resetFrame,
  SpdyError,
  type SpdyFrame,
  SpdyFrameReader,
} from './spdy-frames.js';
import { SpdyHeaders } from './spdy-headers.js';

const resetStatus = { protocolError: 1, refused: 3, cancel: 5 } as const;
/** A client has a handful of streams for a command, two for each connection to a forwarded port. */
const streamLimit = 2_000;
/** The client ends the connection once it has read everything; one that does not is not waited for. */
const endDeadlineMs = 10_000;
/** A client that still writes input when the command is over complains when it can no more. */
const lingerMs = 500;
/** What a stream holds that nobody takes yet. Beyond it the whole connection waits, other streams too. */
const streamBufferBytes = 256 * 1024;

export interface SpdyListener {
  /** A stream of the client; its reply is sent already. */
  opened(stream: SpdyStream): void;
  /** Once: the connection is at its end, and every stream with it. */
  closed(): void;
}

/**
 * The server's side of SPDY protocol draft 3.1 over any transport. Kubernetes' clients open all streams. No flow control
 * towards the peer: Go's spdystream never sends a WINDOW_UPDATE, so whoever waits for one stops after 64 KB.
 */
export class SpdySession {
  readonly #transport: Duplex;
  readonly #world: World;
  readonly #listener: SpdyListener;
  readonly #headers = new SpdyHeaders();
  readonly #streams = new Map<number, SpdyStream>();
  #lastStreamId = 0;
  #isEnding = false;

  constructor(transport: Duplex, world: World, listener: SpdyListener) {
    this.#transport = transport;
    this.#world = world;
    this.#listener = listener;
    transport.on('error', () => transport.destroy());
    void this.#run();
  }

  /** What was written reaches the client, which then ends the connection; where it does not, we do, after a moment. */
  end(): void {
    const cancel = this.#world.clock.after(lingerMs, () => this.#end());
    this.#transport.once('close', cancel);
  }

  #end(): void {
    if (this.#isEnding || this.#transport.destroyed) return;
    this.#isEnding = true;
    this.#transport.write(goAwayFrame(this.#lastStreamId));
    this.#transport.end();
    const cancel = this.#world.clock.after(endDeadlineMs, () => this.#transport.destroy());
    this.#transport.once('close', cancel);
  }

  write(bytes: readonly Uint8Array[], done: (error?: Error | null) => void = () => undefined): void {
    if (this.#isEnding || this.#transport.destroyed || this.#transport.writableEnded) {
      done(new Error('the SPDY connection is closed'));
      return;
    }
    this.#transport.cork();
    bytes.forEach((part, index) => void this.#transport.write(part, index === bytes.length - 1 ? done : undefined));
    this.#transport.uncork();
  }

  forget(streamId: number): void {
    this.#streams.delete(streamId);
  }

  async #run(): Promise<void> {
    const reader = new SpdyFrameReader();
    try {
      for await (const chunk of this.#transport) {
        for (const frame of reader.push(chunk)) await this.#accept(frame);
      }
    } catch {
      // Not SPDY, or cut off: there is nobody who could be told.
    }
    this.#headers.close();
    this.#transport.destroy();
    for (const stream of this.#streams.values()) stream.destroy();
    this.#listener.closed();
  }

  async #accept(frame: SpdyFrame): Promise<void> {
    switch (frame.type) {
      case 'open':
        return this.#open(frame.streamId, await this.#headers.read(frame.headerBlock), frame.isLast);
      case 'headers':
        await this.#headers.read(frame.headerBlock);
        return;
      case 'data': {
        const stream = this.#streams.get(frame.streamId);
        if (stream === undefined || stream.destroyed) return;
        await stream.receive(frame.data);
        if (frame.isLast) stream.receiveEnd();
        return;
      }
      case 'reset':
        this.#streams.get(frame.streamId)?.receiveReset();
        return;
      case 'ping':
        // Odd numbers are the client's own; an even one would be the answer to a ping of ours.
        if (frame.id % 2 === 1) this.write([pingFrame(frame.id)]);
        return;
      default:
        return;
    }
  }

  #open(id: number, headers: ReadonlyMap<string, string>, isLast: boolean): void {
    if (id % 2 === 0 || id <= this.#lastStreamId) throw new SpdyError(`stream ${id} is not the client's next`);
    if (this.#streams.size >= streamLimit) {
      this.write([resetFrame(id, resetStatus.refused)]);
      return;
    }
    const isFirst = this.#lastStreamId === 0;
    this.#lastStreamId = id;
    const stream = new SpdyStream(this, id, headers);
    this.#streams.set(id, stream);
    this.write([replyFrame(id, isFirst)]);
    if (isLast) stream.receiveEnd();
    this.#listener.opened(stream);
  }
}

/** One stream of a client. Either side may end its half; destroying resets what is left. */
export class SpdyStream extends Duplex {
  readonly id: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly #session: SpdySession;
  #wanted: () => void = () => undefined;
  #isReset = false;
  #hasEnd = false;

  constructor(session: SpdySession, id: number, headers: ReadonlyMap<string, string>) {
    super({ allowHalfOpen: true, readableHighWaterMark: streamBufferBytes });
    this.id = id;
    this.headers = headers;
    this.#session = session;
    this.on('error', () => undefined);
  }

  /** Resolves when there is room for more: what nobody takes is not read from the connection. */
  async receive(data: Buffer): Promise<void> {
    if (data.length === 0 || this.#hasEnd || this.push(data)) return;
    await new Promise<void>((resolve) => {
      this.#wanted = resolve;
    });
  }

  receiveEnd(): void {
    if (!this.#hasEnd) this.push(null);
    this.#hasEnd = true;
  }

  receiveReset(): void {
    this.#isReset = true;
    this.destroy();
  }

  override _read(): void {
    this.#wanted();
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    this.#session.write([dataHead(this.id, chunk.length, false), chunk], done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#session.write([dataHead(this.id, 0, true)], done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#session.forget(this.id);
    this.#wanted();
    const isWhole = this.readableEnded && this.writableFinished;
    if (!isWhole && !this.#isReset) this.#session.write([resetFrame(this.id, resetStatus.cancel)]);
    done(error);
  }
}
