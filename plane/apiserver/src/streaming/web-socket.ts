import { isUtf8 } from 'node:buffer';
import type { Duplex } from 'node:stream';
import type { Cancel, World } from '@castellan/world';
import {
  closeCodes,
  type Frame,
  FrameReader,
  frameHead,
  opcodes,
  protocolError,
  WebSocketError,
} from './web-socket-frames.js';

/** Clients of Kubernetes send messages of at most 64 KB. */
const messageLimitBytes = 4 * 1024 * 1024;
/** As kubectl does it, from the other side: a peer that has not been heard of for so long is gone. */
const pingMs = 5_000;
const silenceMs = 61_000;
/** A peer that does not answer a close is not waited for any longer. */
const closeDeadlineMs = 5_000;

export interface WebSocketListener {
  message(data: Buffer, isText: boolean): void;
  /** Once: nothing comes or goes any more, however it ended. */
  closed(): void;
}

/** The server's side of a WebSocket connection (RFC 6455), from the moment after its handshake. */
export class WebSocket {
  readonly #socket: Duplex;
  readonly #world: World;
  readonly #listener: WebSocketListener;
  readonly #reader = new FrameReader(messageLimitBytes);
  #fragments: { readonly opcode: number; readonly parts: Buffer[]; bytes: number } | undefined;
  #heardAtMs: number;
  #isClosing = false;
  #isClosed = false;
  #isPaused = false;
  #timer: Cancel;

  constructor(socket: Duplex, world: World, listener: WebSocketListener) {
    this.#socket = socket;
    this.#world = world;
    this.#listener = listener;
    this.#heardAtMs = world.clock.monotonicNow();
    this.#timer = world.clock.after(pingMs, () => this.#beat());
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.on('end', () => socket.end());
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.#ended());
  }

  /** `done` is called when the bytes are on their way, or can never be. */
  send(data: Uint8Array | string, done: (error?: Error | null) => void = () => undefined): void {
    const payload = typeof data === 'string' ? Buffer.from(data) : data;
    this.#write(typeof data === 'string' ? opcodes.text : opcodes.binary, payload, done);
  }

  /** Takes no more from the peer until `resume`. */
  pause(): void {
    this.#isPaused = true;
    this.#socket.pause();
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#heardAtMs = this.#world.clock.monotonicNow();
    this.#socket.resume();
  }

  /** Everything sent so far reaches the peer; what it sends from now on is passed over. */
  close(code: number = closeCodes.normal, reason = ''): void {
    if (this.#isClosing) return;
    const payload = Buffer.alloc(2 + Buffer.byteLength(reason));
    payload.writeUInt16BE(code);
    payload.write(reason, 2);
    this.#write(opcodes.close, payload, () => undefined);
    this.#isClosing = true;
    this.#timer();
    this.#timer = this.#world.clock.after(closeDeadlineMs, () => this.#socket.destroy());
    this.#isPaused = false;
    this.#socket.resume();
  }

  #write(opcode: number, payload: Uint8Array, done: (error?: Error | null) => void): void {
    if (this.#isClosing || this.#isClosed) {
      done(new Error('the WebSocket connection is closed'));
      return;
    }
    this.#socket.cork();
    this.#socket.write(frameHead(opcode, payload.length));
    this.#socket.write(payload, done);
    this.#socket.uncork();
  }

  #receive(chunk: Buffer): void {
    this.#heardAtMs = this.#world.clock.monotonicNow();
    try {
      for (const frame of this.#reader.push(chunk)) this.#accept(frame);
    } catch (error) {
      if (!(error instanceof WebSocketError)) throw error;
      // What follows the mistake cannot be read either.
      this.#socket.removeAllListeners('data');
      this.close(error.code, error.message);
      this.#socket.end();
    }
  }

  #accept({ opcode, payload, isFinal }: Frame): void {
    if (opcode === opcodes.ping) this.#write(opcodes.pong, payload, () => undefined);
    else if (opcode === opcodes.close) this.#acceptClose(payload);
    else if (opcode !== opcodes.pong) this.#acceptData(opcode, payload, isFinal);
  }

  #acceptData(opcode: number, payload: Buffer, isFinal: boolean): void {
    const isContinuation = opcode === opcodes.continuation;
    if (isContinuation !== (this.#fragments !== undefined)) {
      throw protocolError(isContinuation ? 'there is nothing to continue' : 'the message before is not complete');
    }
    const message = this.#fragments ?? { opcode, parts: [], bytes: 0 };
    message.parts.push(payload);
    message.bytes += payload.length;
    if (message.bytes > messageLimitBytes) {
      throw new WebSocketError(closeCodes.tooBig, `a message of more than ${messageLimitBytes} bytes`);
    }
    this.#fragments = isFinal ? undefined : message;
    if (!isFinal) return;
    const data = message.parts.length === 1 ? payload : Buffer.concat(message.parts);
    const isText = message.opcode === opcodes.text;
    if (isText && !isUtf8(data)) throw new WebSocketError(closeCodes.invalidText, 'a text message is not UTF-8');
    if (!this.#isClosing) this.#listener.message(data, isText);
  }

  #acceptClose(payload: Buffer): void {
    if (payload.length === 1) throw protocolError('a close code has two bytes');
    const code = payload.length === 0 ? closeCodes.normal : payload.readUInt16BE();
    if (!isCloseCode(code)) throw protocolError(`${code} is no close code`);
    if (!isUtf8(payload.subarray(2))) throw new WebSocketError(closeCodes.invalidText, 'a close reason is not UTF-8');
    this.close(code);
    this.#socket.end();
  }

  #beat(): void {
    const silentMs = this.#world.clock.monotonicNow() - this.#heardAtMs;
    if (!this.#isPaused && silentMs > silenceMs) {
      this.#socket.destroy();
      return;
    }
    this.#write(opcodes.ping, Buffer.alloc(0), () => undefined);
    this.#timer = this.#world.clock.after(pingMs, () => this.#beat());
  }

  #ended(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#timer();
    this.#listener.closed();
  }
}

/** Codes that may be sent: those of the RFC but for the ones that are never on the wire, and those of applications. */
function isCloseCode(code: number): boolean {
  return (code >= 1000 && code <= 1014 && ![1004, 1005, 1006].includes(code)) || (code >= 3000 && code <= 4999);
}
