import type { ApiRequest, ApiServer, ResponseWriter, User } from '@castellan/apiserver';
import type { RawRequest, RawResponse, Transport } from '@castellan/client';
import { ReplyBody } from './reply-body.js';

/**
 * Carries requests to an API server of the same process by calling it. The server takes the client for `user`, as it would
 * take one with a certificate of that name.
 */
export function inProcessTransport(server: Pick<ApiServer, 'handle'>, user: User): Transport {
  return {
    send: (request) =>
      new Promise((resolve, reject) => {
        if (request.signal?.aborted) reject(request.signal.reason);
        else new Exchange(request, resolve, reject).carryOut(server, user);
      }),
    close: async () => {},
  };
}

class Exchange {
  readonly #request: RawRequest;
  readonly #begin: (response: RawResponse) => void;
  readonly #refuse: (reason: unknown) => void;
  readonly #body = new ReplyBody();
  readonly #closeCallbacks: (() => void)[] = [];
  #isClosed = false;

  constructor(request: RawRequest, begin: (response: RawResponse) => void, refuse: (reason: unknown) => void) {
    this.#request = request;
    this.#begin = begin;
    this.#refuse = refuse;
  }

  carryOut(server: Pick<ApiServer, 'handle'>, user: User): void {
    this.#request.signal?.addEventListener('abort', this.#abort, { once: true });
    void server.handle(this.#apiRequest(user), this.#writer()).catch((error: unknown) => {
      this.#refuse(error);
      this.#body.fail(error);
      this.#close();
    });
  }

  #apiRequest(user: User): ApiRequest {
    const { method, path: url, headers = {}, body = '' } = this.#request;
    const mark = url.indexOf('?');
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    return {
      method,
      path: mark < 0 ? url : url.slice(0, mark),
      query: new URLSearchParams(mark < 0 ? '' : url.slice(mark + 1)),
      headers: { ...headers, 'content-length': String(bytes.byteLength) },
      certificateUser: user,
      body: async () => bytes,
      onClose: (callback) => {
        if (this.#isClosed) callback();
        else this.#closeCallbacks.push(callback);
      },
    };
  }

  #writer(): ResponseWriter {
    const body = this.#body;
    return {
      head: (status, headers) => this.#begin({ status, headers, body: this.#readBody() }),
      write: (chunk) => {
        body.push(chunk);
        return true;
      },
      end: (chunk) => {
        if (chunk !== undefined) body.push(chunk);
        body.end();
        this.#close();
      },
      onDrain: (callback) => callback(),
      get isEnded() {
        return body.isEnded;
      },
    };
  }

  /** A reader that stops early has hung up. */
  async *#readBody(): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      yield* this.#body;
    } finally {
      this.#body.end();
      this.#close();
    }
  }

  readonly #abort = (): void => {
    const { reason } = this.#request.signal ?? {};
    this.#refuse(reason);
    this.#body.fail(reason);
    this.#close();
  };

  #close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#request.signal?.removeEventListener('abort', this.#abort);
    for (const callback of this.#closeCallbacks) callback();
  }
}
