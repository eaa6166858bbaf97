import type { Http2SecureServer, Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import type { KeyedCertificate } from '@castellan/certificates';
import { startDeadline, unlessAborted } from '@castellan/client';
import { exactJson, isStatusError, parseExactJson } from '@castellan/machinery';
import type { Clock } from '@castellan/world';
import type { Log } from '../controller.js';
import { deferred } from '../deferred.js';
import { errorMessage } from '../error-message.js';
import type { ReviewEnd, WebhookObserver } from '../observe/webhook-observer.js';

/** Answers one review; `signal` aborts when the answer would come too late. */
export type ReviewHandler = (review: unknown, signal: AbortSignal) => Promise<unknown> | unknown;

export interface WebhookServerOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** By path: `/validate/widgets.example.com/v1`. */
  readonly handlers: ReadonlyMap<string, ReviewHandler>;
  readonly observer?: WebhookObserver;
}

/** An API server sends no more: two objects of 1.5 MB at most, and what is said of them. */
const mostBodyBytes = 7 * 1024 * 1024;
/** What a caller waits that says nothing of it, as API servers do. */
const defaultTimeoutMs = 10_000;
const replyMs = 1_000;
const drainMs = 10_000;

/** Serves reviews over TLS, by HTTP/2 and HTTP/1.1. Its certificate can be changed while it serves: connections stay. */
export class WebhookServer {
  readonly #options: WebhookServerOptions;
  readonly #connections = new Set<Socket>();
  readonly #answering = new Set<Promise<void>>();
  /** How many reviews are being answered, by path. */
  readonly #inFlight = new Map<string, number>();
  #server: Http2SecureServer | undefined;

  constructor(options: WebhookServerOptions) {
    this.#options = options;
    for (const path of options.handlers.keys()) {
      options.observer?.webhookAdded?.({ path, inFlight: () => this.#inFlight.get(path) ?? 0 });
    }
  }

  /** Listens, and gives the port: one of the system's choice where `port` is 0. On all addresses without a host. */
  async listen(
    { certificate, key }: KeyedCertificate,
    at: { readonly host?: string; readonly port: number },
  ): Promise<number> {
    const { createSecureServer } = await import('node:http2');
    const reportBroken = (error: unknown): void => {
      this.#options.log.debug(`webhooks: a connection broke: ${errorMessage(error)}`);
    };
    const server = createSecureServer({ cert: certificate, key, allowHTTP1: true, minVersion: 'TLSv1.2' });
    server.on('request', (request: Http2ServerRequest, response: Http2ServerResponse) => {
      this.#follow(this.#answer(request, response));
      response.on('error', reportBroken);
    });
    server.on('secureConnection', (socket: Socket) => {
      this.#connections.add(socket);
      socket.once('close', () => this.#connections.delete(socket));
    });
    // A client that breaks off harms its own connection only.
    server.on('tlsClientError', reportBroken);
    server.on('sessionError', reportBroken);
    const listening = deferred();
    server.on('error', (error) => {
      listening.reject(error);
      reportBroken(error);
    });
    server.listen(at, () => listening.resolve());
    await listening.promise;
    this.#server = server;
    return addressOf(server).port;
  }

  /** For connections from now on. */
  useCertificate({ certificate, key }: KeyedCertificate): void {
    this.#server?.setSecureContext({ cert: certificate, key });
  }

  /** Takes nothing new, and ends the connections when what was asked is answered, or after 10 s. */
  async close(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    const closed = deferred();
    server.close(() => closed.resolve());
    const deadline = startDeadline(this.#options.clock, drainMs, 'the reviews that are being answered');
    try {
      await unlessAborted(Promise.all(this.#answering), deadline.signal);
    } catch (error) {
      this.#options.log.warn(`webhooks: ${errorMessage(error)}; they are cut off`);
    } finally {
      deadline.dispose();
    }
    for (const socket of this.#connections) socket.destroySoon();
    await closed.promise;
  }

  #follow(answer: Promise<void>): void {
    const followed = answer.finally(() => this.#answering.delete(followed));
    this.#answering.add(followed);
  }

  async #answer(request: Http2ServerRequest, response: Http2ServerResponse): Promise<void> {
    const { handlers, observer } = this.#options;
    const [path = '', query = ''] = request.url.split('?', 2);
    const handler = handlers.get(path);
    if (handler === undefined) return send(response, 404, `there is no webhook at ${path}`);
    const review = (): Promise<ReviewEnd> => this.#review(handler, { path, query }, request, response);
    this.#count(path, 1);
    const end = await (observer?.aroundReview?.(path, review) ?? review());
    this.#count(path, -1);
    observer?.reviewEnded?.(path, end);
  }

  #count(path: string, by: number): void {
    this.#inFlight.set(path, (this.#inFlight.get(path) ?? 0) + by);
  }

  /** Never rejects: what goes wrong is in the reply, and in what is given. */
  async #review(
    handler: ReviewHandler,
    { path, query }: { readonly path: string; readonly query: string },
    request: Http2ServerRequest,
    response: Http2ServerResponse,
  ): Promise<ReviewEnd> {
    const { clock, log } = this.#options;
    const sinceMs = clock.monotonicNow();
    const replied = (status: number, message: string): ReviewEnd => {
      send(response, status, message);
      return { status, tookMs: clock.monotonicNow() - sinceMs, message };
    };
    if (request.method !== 'POST') return replied(405, 'reviews are sent by POST');
    const timeoutMs = timeoutOf(query);
    // The reply that says why has to arrive before its caller gives up.
    const answerMs = timeoutMs - Math.min(timeoutMs / 2, replyMs);
    const deadline = startDeadline(clock, answerMs, `the webhook at ${path} to answer`);
    try {
      const review: unknown = parseExactJson(await unlessAborted(bodyOf(request), deadline.signal));
      const answered = Promise.resolve().then(() => handler(review, deadline.signal));
      send(response, 200, exactJson(await unlessAborted(answered, deadline.signal)), 'application/json');
      return { status: 200, tookMs: clock.monotonicNow() - sinceMs };
    } catch (error) {
      const isBad = error instanceof SyntaxError || isStatusError(error, 'BadRequest');
      const message = isBad ? errorMessage(error) : `the webhook at ${path} failed: ${errorMessage(error)}`;
      log.error(message);
      return replied(isBad ? 400 : 500, message);
    } finally {
      deadline.dispose();
    }
  }
}

function addressOf(server: Http2SecureServer): AddressInfo {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the webhook server has no address');
  return address;
}

/** API servers say in the query how long they wait: `?timeout=10s`. */
function timeoutOf(query: string): number {
  const seconds = /^(\d+)s$/.exec(new URLSearchParams(query).get('timeout') ?? '')?.[1];
  return seconds === undefined ? defaultTimeoutMs : Number(seconds) * 1_000;
}

async function bodyOf(request: Http2ServerRequest): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    if (!Buffer.isBuffer(chunk)) continue;
    bytes += chunk.length;
    if (bytes > mostBodyBytes) throw new SyntaxError(`the review is larger than ${mostBodyBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function send(response: Http2ServerResponse, status: number, body: string, type = 'text/plain; charset=utf-8'): void {
  if (response.writableEnded || response.destroyed) return;
  response.writeHead(status, { 'content-type': type, 'content-length': String(Buffer.byteLength(body)) });
  response.end(body);
}
