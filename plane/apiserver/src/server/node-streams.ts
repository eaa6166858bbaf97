import type { Duplex, Readable, Writable } from 'node:stream';

/** The agent of a node, by the node's name. Throws a StatusError when there is none to be reached. */
export type NodeStreamsOf = (nodeName: string) => NodeStreams;

/** What the API server passes on to a node's agent. Refusals are StatusErrors. */
export interface NodeStreams {
  /** A container's log, as it was written. Ends with the log, or with `signal` when it follows. */
  logs(request: LogRequest, signal: AbortSignal): AsyncIterable<Uint8Array>;
  /** Starts a command in a running container. `signal` kills it. */
  execute(request: ExecRequest, signal: AbortSignal): Promise<NodeProcess>;
  /** Takes part in a container's own program, from now on. `signal` leaves it. */
  attach(request: AttachRequest, signal: AbortSignal): Promise<NodeProcess>;
  /** Connects to a port of a pod. Rejects with a text as `connect: connection refused`. */
  connect(request: ConnectRequest, signal: AbortSignal): Promise<Duplex>;
}

export interface LogRequest {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  readonly follow: boolean;
  /** The last so many lines; all when absent. */
  readonly tailLines?: number;
  /** Nothing that was written before, in milliseconds since the Unix epoch. */
  readonly sinceMs?: number;
  /** Of the container's previous run. */
  readonly previous: boolean;
  readonly limitBytes?: number;
  /** Each line begins with its time, RFC 3339 with nanoseconds. */
  readonly timestamps: boolean;
}

export interface AttachRequest {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  readonly stdin: boolean;
  /** With a terminal there is no stderr: it comes with stdout. */
  readonly tty: boolean;
}

export interface ExecRequest extends AttachRequest {
  readonly command: readonly string[];
}

export interface ConnectRequest {
  readonly namespace: string;
  readonly pod: string;
  readonly port: number;
  /** Of the pod: where a forwarded port is looked for, and where others reach it. */
  readonly at: 'loopback' | 'address';
}

/** A process in a container, as its user sees it. */
export interface NodeProcess {
  readonly stdin?: Writable;
  readonly stdout: Readable;
  readonly stderr?: Readable;
  /** Of the terminal, in characters; nothing where there is none. */
  resize(size: { readonly columns: number; readonly rows: number }): void;
  /** When the process has ended; its streams may still hold output. 128 + the signal's number for a killed one. */
  readonly exitCode: Promise<number>;
}
