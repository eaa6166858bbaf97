import type { Readable, Writable } from 'node:stream';
import type { Status } from '@castellan/machinery';

/** Which streams of a command a client wants. */
export interface CommandOptions {
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  readonly tty: boolean;
}

/** A client's ends of a command's streams, whatever protocol they are carried by. */
export interface CommandStreams {
  readonly stdin?: Readable;
  readonly stdout?: Writable;
  readonly stderr?: Writable;
  /** JSON documents `{"Width":80,"Height":24}`, one after the other. */
  readonly resize?: Readable;
  /** Tells how the command ended, after all of its output, and ends the connection. */
  finish(status: Status): void;
}

/** Channels of the WebSocket protocols; over SPDY the same streams have names. */
export const commandChannels = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4 } as const;

/** The error stream's text: the whole status as JSON, or only what went wrong before v4 of the protocol. */
export function statusText(status: Status, isPlain: boolean): string {
  if (!isPlain) return JSON.stringify(status);
  return status.status === 'Success' ? '' : (status.message ?? '');
}
