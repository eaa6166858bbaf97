/** What the API server passes on to a node's agent. The plane gives it the agent's own; without it logs are a 503. */
export interface NodeStreams {
  /** A container's log, as it was written. Ends with the log, or with `signal` when it follows. */
  logs(request: LogRequest, signal: AbortSignal): AsyncIterable<Uint8Array>;
}

export interface LogRequest {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  readonly follow: boolean;
  /** The last so many lines; all when absent. */
  readonly tailLines?: number;
  readonly sinceSeconds?: number;
  /** Of the container's previous run. */
  readonly previous: boolean;
  readonly limitBytes?: number;
  /** Each line begins with its time, RFC 3339 with nanoseconds. */
  readonly timestamps: boolean;
}
