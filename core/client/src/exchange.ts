import { readFile } from 'node:fs/promises';
import { StatusError } from '@castellan/machinery';
import type { World } from '@castellan/world';
import type { RawRequest, RawResponse } from './client.js';
import type { ClusterConfig } from './config/cluster-config.js';
import { startDeadline } from './deadline.js';
import { ConfigError, ConnectionError, type ConnectionFailure, connectionFailureOf } from './errors.js';
import { readBody, retryAfterSeconds, statusErrorOf } from './reply.js';
import { type Transport, TransportClosedError } from './transport/transport.js';

const maxThrottledRetries = 5;
const maxRetryAfterMs = 10_000;
const tokenAgeMs = 60_000;

export interface ExchangeOptions {
  readonly config: ClusterConfig;
  readonly transport: Transport;
  readonly world: World;
  readonly deadlineMs: number;
  readonly userAgent: string;
  readonly onReply?: (reply: Reply) => void;
}

/** How one request was answered, for metrics. */
export interface Reply {
  readonly method: string;
  /** With its port. */
  readonly host: string;
  /** `undefined` when no reply came. */
  readonly status: number | undefined;
}

/**
 * Requests and their replies: credentials, deadlines, the few retries that are safe, and errors that say what happened.
 * A GET whose connection broke is sent once more; a write never is, because it may have been carried out. A reply of 429 or
 * 503 with Retry-After says that nothing was carried out, and GET, PUT and DELETE are repeated then.
 */
export class Exchange {
  readonly #options: ExchangeOptions;
  #token: { readonly text: string; readonly readAtMs: number } | undefined;

  constructor(options: ExchangeOptions) {
    this.#options = options;
  }

  /** The whole reply's body; a reply of 400 or more is thrown as StatusError. */
  async text(request: RawRequest): Promise<string> {
    const { world, deadlineMs } = this.#options;
    const deadline = startDeadline(world.clock, deadlineMs, 'the reply', request.signal);
    const bounded = { ...request, signal: deadline.signal };
    try {
      for (let brokenTries = 0, throttledTries = 0; ; ) {
        try {
          const response = await this.#send(bounded);
          const body = await readBody(response);
          if (response.status < 400) return body;
          const error = statusErrorOf(response, body);
          const waitMs = throttledWaitMs(request, response);
          if (waitMs === undefined || throttledTries >= maxThrottledRetries) throw error;
          throttledTries += 1;
          await world.clock.sleep(waitMs, deadline.signal);
        } catch (error) {
          const failed = this.failure(error, request, deadline);
          const isBroken = failed instanceof ConnectionError && failed.failure === 'broken';
          if (!isBroken || request.method !== 'GET' || brokenTries > 0) throw failed;
          brokenTries += 1;
        }
      }
    } finally {
      deadline.dispose();
    }
  }

  /** The reply as soon as its headers are there, whatever its status; only that much is under the deadline. */
  async open(request: RawRequest): Promise<RawResponse> {
    const { world, deadlineMs } = this.#options;
    const ending = new AbortController();
    const deadline = startDeadline(world.clock, deadlineMs, 'the reply to begin', request.signal);
    const abort = (): void => ending.abort(deadline.signal.reason);
    deadline.signal.addEventListener('abort', abort, { once: true });
    if (deadline.signal.aborted) abort();
    try {
      const response = await this.#send({ ...request, signal: ending.signal });
      return { ...response, body: this.#openBody(response.body, request, ending) };
    } catch (error) {
      throw this.failure(error, request, deadline);
    } finally {
      deadline.signal.removeEventListener('abort', abort);
      deadline.dispose();
    }
  }

  /** What to throw for what a transport threw. Aborts of the caller and refusals of the server stay as they are. */
  failure(error: unknown, request: RawRequest, deadline?: { readonly isPassed: boolean }): unknown {
    if (deadline?.isPassed) return this.#connectionError('deadline', request, error);
    if (request.signal?.aborted) return request.signal.reason;
    if (error instanceof StatusError || error instanceof ConnectionError || error instanceof ConfigError) return error;
    if (error instanceof TransportClosedError) return this.#connectionError('closed', request);
    if (error instanceof RangeError || error instanceof SyntaxError)
      return this.#connectionError('malformed', request, error);
    return this.#connectionError(connectionFailureOf(error), request, error);
  }

  async *#openBody(
    body: AsyncIterable<Uint8Array>,
    request: RawRequest,
    ending: AbortController,
  ): AsyncGenerator<Uint8Array> {
    const onAbort = (): void => ending.abort(request.signal?.reason);
    request.signal?.addEventListener('abort', onAbort, { once: true });
    if (request.signal?.aborted) onAbort();
    try {
      yield* body;
    } catch (error) {
      throw this.failure(error, request);
    } finally {
      request.signal?.removeEventListener('abort', onAbort);
    }
  }

  async #send(request: RawRequest): Promise<RawResponse> {
    const token = await this.#bearerToken();
    const headers = {
      accept: 'application/json',
      'user-agent': this.#options.userAgent,
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...request.headers,
    };
    const { transport, onReply } = this.#options;
    if (onReply === undefined) return transport.send({ ...request, headers });
    const about = { method: request.method, host: new URL(this.#options.config.server).host };
    try {
      const response = await transport.send({ ...request, headers });
      onReply({ ...about, status: response.status });
      return response;
    } catch (error) {
      onReply({ ...about, status: undefined });
      throw error;
    }
  }

  async #bearerToken(): Promise<string | undefined> {
    const { config, world } = this.#options;
    if (config.tokenFile === undefined) return config.token;
    const nowMs = world.clock.monotonicNow();
    if (this.#token === undefined || nowMs - this.#token.readAtMs > tokenAgeMs) {
      this.#token = { text: await readToken(config.tokenFile), readAtMs: nowMs };
    }
    return this.#token.text;
  }

  #connectionError(failure: ConnectionFailure, request: RawRequest, cause?: unknown): ConnectionError {
    const path = request.path.length > 200 ? `${request.path.slice(0, 200)}…` : request.path;
    return new ConnectionError(
      { failure, request: `${request.method} ${path}`, server: this.#options.config.server },
      cause,
    );
  }
}

function throttledWaitMs(request: RawRequest, response: RawResponse): number | undefined {
  if (response.status !== 429 && response.status !== 503) return undefined;
  if (request.method !== 'GET' && request.method !== 'PUT' && request.method !== 'DELETE') return undefined;
  const seconds = retryAfterSeconds(response);
  return seconds === undefined ? undefined : Math.min(seconds * 1_000, maxRetryAfterMs);
}

async function readToken(path: string): Promise<string> {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (cause) {
    throw new ConfigError(`the token file ${path} cannot be read`, { cause });
  }
}
