import http2 from 'node:http2';
import type { Duplex } from 'node:stream';
import type { World } from '@castellan/world';
import type { RawRequest, RawResponse } from '../client.js';
import { flatHeaders } from './http1-transport.js';
import { readableBody } from './readable-body.js';

/** A window large enough that one big list is not held up by round trips. */
const windowBytes = 4 * 1024 * 1024;
/** As client-go: ask for a sign of life after 30 s of silence, give up 15 s later. */
const silenceMs = 30_000;
const pingDeadlineMs = 15_000;

/** One HTTP/2 connection and the streams on it. It leaves service on GOAWAY, on error, or when it gives no sign of life. */
export class Http2Session {
  readonly #session: http2.ClientHttp2Session;
  readonly #world: World;
  #streams = 0;
  #heardAtMs: number;
  #isServing = true;
  #cancelCheck: (() => void) | undefined;

  constructor(authority: URL, socket: Duplex, world: World) {
    this.#world = world;
    this.#heardAtMs = world.clock.monotonicNow();
    this.#session = http2.connect(authority, {
      createConnection: () => socket,
      settings: { enablePush: false, initialWindowSize: windowBytes },
    });
    this.#session.once('connect', () => this.#session.setLocalWindowSize(windowBytes));
    this.#session.once('goaway', () => this.#retire());
    this.#session.once('close', () => this.#retire());
    this.#session.on('error', () => this.#retire());
  }

  /**
   * Resolves when the server has said how many streams it allows. A stream that is opened before may be held back behind
   * that limit for as long as watches are on the connection.
   */
  async untilSettled(): Promise<void> {
    const session = this.#session;
    await new Promise<void>((resolve, reject) => {
      session.once('remoteSettings', () => resolve());
      session.once('error', reject);
      session.once('close', () => reject(new Error('the connection was closed before the server said anything')));
    });
  }

  /** Whether a further stream can be opened now without waiting for another to end. */
  get hasRoom(): boolean {
    return this.isServing && this.#streams < (this.#session.remoteSettings?.maxConcurrentStreams ?? 100);
  }

  get isServing(): boolean {
    return this.#isServing && !this.#session.closed && !this.#session.destroyed;
  }

  send(request: RawRequest): Promise<RawResponse> {
    const { signal } = request;
    if (signal?.aborted) return Promise.reject(signal.reason);
    return new Promise((resolve, reject) => {
      const stream = this.#session.request(
        { ...request.headers, ':method': request.method, ':path': request.path },
        { endStream: request.body === undefined },
      );
      const onAbort = (): void => {
        reject(signal?.reason);
        stream.close(http2.constants.NGHTTP2_CANCEL);
        stream.destroy(signal?.reason instanceof Error ? signal.reason : new Error('aborted'));
      };
      this.#opened();
      signal?.addEventListener('abort', onAbort, { once: true });
      stream.on('error', (error) => reject(signal?.aborted ? signal.reason : error));
      stream.once('close', () => {
        signal?.removeEventListener('abort', onAbort);
        this.#ended();
        // A stream whose connection went away while the request waited closes without an error of its own.
        reject(new Error('the connection was closed before the reply came'));
      });
      stream.once('response', (headers) => {
        this.#heard();
        resolve({
          status: Number(headers[':status'] ?? 0),
          headers: flatHeaders(headers),
          body: readableBody(stream, {
            isTruncated: () => stream.aborted || stream.rstCode !== http2.constants.NGHTTP2_NO_ERROR,
            onChunk: this.#heard,
            signal,
          }),
        });
      });
      if (request.body !== undefined) stream.end(request.body);
    });
  }

  destroy(error?: Error): void {
    this.#isServing = false;
    this.#cancelCheck?.();
    this.#session.destroy(error);
  }

  readonly #heard = (): void => {
    this.#heardAtMs = this.#world.clock.monotonicNow();
  };

  #opened(): void {
    this.#streams += 1;
    if (this.#streams === 1) {
      this.#heard();
      this.#checkAfter(silenceMs);
    }
  }

  #ended(): void {
    this.#streams -= 1;
    if (this.#streams > 0) return;
    this.#cancelCheck?.();
    if (!this.#isServing) this.#session.close();
  }

  /** No new streams; those that are open may end. */
  #retire(): void {
    this.#isServing = false;
    if (this.#streams === 0) this.destroy();
  }

  #checkAfter(delayMs: number): void {
    this.#cancelCheck = this.#world.clock.after(delayMs, () => {
      const silentMs = this.#world.clock.monotonicNow() - this.#heardAtMs;
      if (silentMs < silenceMs) this.#checkAfter(silenceMs - silentMs);
      else this.#ping();
    });
  }

  #ping(): void {
    this.#cancelCheck = this.#world.clock.after(pingDeadlineMs, () => {
      this.destroy(new Error(`the server gave no sign of life for ${(silenceMs + pingDeadlineMs) / 1000} s`));
    });
    if (this.#session.destroyed) return;
    this.#session.ping((error) => {
      if (error !== null) return;
      this.#cancelCheck?.();
      this.#heard();
      if (this.#streams > 0) this.#checkAfter(silenceMs);
    });
  }
}
