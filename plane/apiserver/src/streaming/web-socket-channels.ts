import { Duplex } from 'node:stream';
import type { World } from '@castellan/world';
import { WebSocket } from './web-socket.js';

/** How messages carry a channel's number and its bytes. */
export interface ChannelCoding {
  /** Text messages of a digit and base64, for browsers; else binary ones. */
  readonly isBase64: boolean;
  /** A message of 255 and a channel's number ends that channel: from v5.channel.k8s.io on. */
  readonly hasClose: boolean;
}

/** The coding of a subprotocol of the `channel.k8s.io` family. */
export function codingOf(protocol: string): ChannelCoding {
  return { isBase64: protocol.includes('base64'), hasClose: protocol === 'v5.channel.k8s.io' };
}

export interface ChannelOptions {
  readonly world: World;
  readonly coding: ChannelCoding;
  /** How many channels there are, numbered from 0. */
  readonly count: number;
  /** Those that the client may write to. What it sends on others is dropped, as upstream does. */
  readonly reads: readonly number[];
  /** Called once, when the connection is at its end. */
  closed(): void;
}

const closeChannel = 255;
const digitZero = 0x30;

/**
 * Several streams over one WebSocket connection, each a channel with a number in front of every message. A channel whose
 * reader does not keep up holds up the others.
 */
export class WebSocketChannels {
  readonly #socket: WebSocket;
  readonly #coding: ChannelCoding;
  readonly #channels: readonly Channel[];

  constructor(transport: Duplex, options: ChannelOptions) {
    this.#coding = options.coding;
    this.#socket = new WebSocket(transport, options.world, {
      message: (data, isText) => this.#receive(data, isText),
      closed: () => {
        for (const channel of this.#channels) channel.destroy();
        options.closed();
      },
    });
    const channels = Array.from({ length: options.count }, (_, number) => new Channel(this, number));
    this.#channels = channels;
    for (const [number, channel] of channels.entries()) if (!options.reads.includes(number)) channel.receiveEnd();
  }

  channel(number: number): Duplex {
    const channel = this.#channels[number];
    if (channel === undefined) throw new Error(`there is no channel ${number}`);
    return channel;
  }

  send(number: number, chunk: Buffer, done?: (error?: Error | null) => void): void {
    const message = this.#coding.isBase64
      ? `${number}${chunk.toString('base64')}`
      : Buffer.concat([Buffer.from([number]), chunk]);
    this.#socket.send(message, done);
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  close(): void {
    this.#socket.close();
  }

  #receive(message: Buffer, isText: boolean): void {
    const first = message[0];
    if (first === undefined) return;
    if (this.#coding.hasClose && first === closeChannel) {
      this.#channels[message[1] ?? closeChannel]?.receiveEnd();
      return;
    }
    // Browsers may send a text where bytes are expected: the number is then a character all the same.
    const number = this.#coding.isBase64 || (isText && first >= digitZero) ? first - digitZero : first;
    const rest = message.subarray(1);
    const data = this.#coding.isBase64 ? Buffer.from(rest.toString('latin1'), 'base64') : rest;
    this.#channels[number]?.receive(data);
  }
}

class Channel extends Duplex {
  readonly #channels: WebSocketChannels;
  readonly #number: number;
  #hasEnd = false;

  constructor(channels: WebSocketChannels, number: number) {
    super({ allowHalfOpen: true });
    this.#channels = channels;
    this.#number = number;
    this.on('error', () => undefined);
  }

  receive(data: Buffer): void {
    if (this.#hasEnd || data.length === 0) return;
    if (!this.push(data)) this.#channels.pause();
  }

  receiveEnd(): void {
    if (!this.#hasEnd) this.push(null);
    this.#hasEnd = true;
  }

  override _read(): void {
    this.#channels.resume();
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    this.#channels.send(this.#number, chunk, done);
  }
}
