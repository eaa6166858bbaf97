import type { Duplex } from 'node:stream';

/**
 * A request and its reply without a transport: the HTTP listener makes these of a connection, and a transport inside
 * the process could make them of a function call.
 */
export interface ApiRequest {
  readonly method: string;
  /** As sent, percent-encoded, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Who speaks, as far as the transport knows: from a verified client certificate. */
  readonly certificateUser?: User;
  /** The protocol that the client wants to speak instead of HTTP, in lower case; only where the transport can change it. */
  readonly upgrade?: string;
  /** The address that the client's connection comes from, as far as the transport knows. */
  readonly remoteAddress?: () => string | undefined;
  /** Gets what the body was read as: for the audit log. */
  readonly heard?: (object: unknown) => void;
  /** The whole body; fails with a 413 when it is larger than `limitBytes`. */
  body(limitBytes: number): Promise<Uint8Array>;
  /** Runs `callback` once when the client is gone or the reply has ended. */
  onClose(callback: () => void): void;
}

export interface User {
  readonly name: string;
  readonly groups: readonly string[];
  readonly uid?: string;
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** In `User.extra`: which of a user's credentials spoke; upstream's name for it. */
export const credentialIdKey = 'authentication.kubernetes.io/credential-id';

export interface ResponseWriter {
  /** Once, before anything else. */
  head(status: number, headers: Readonly<Record<string, string>>): void;
  /** False: the client does not keep up; wait for `onDrain`. */
  write(chunk: Uint8Array | string): boolean;
  end(chunk?: Uint8Array | string): void;
  onDrain(callback: () => void): void;
  readonly isEnded: boolean;
  /** Instead of `head`, where the request asks for an upgrade: answers 101, and the bytes are the caller's from then on. */
  switchProtocols?(headers: Readonly<Record<string, string>>): Duplex;
}
