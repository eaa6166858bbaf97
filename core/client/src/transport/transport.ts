import type { RawRequest, RawResponse } from '../client.js';

/**
 * Carries requests to one server. Implementations: HTTP/2 and HTTP/1.1 here; one within the process where server and
 * client share one.
 *
 * - `send` resolves when the reply's headers are there; it rejects with whatever the network says, or with the signal's
 *   reason.
 * - When the signal aborts, the request and its body end at once, and the body's reader gets the signal's reason.
 * - A body that ends before it is complete throws; it never just stops.
 */
export interface Transport {
  send(request: RawRequest): Promise<RawResponse>;
  close(): Promise<void>;
}

/** Of a transport that was closed, for requests made afterwards or cut off by it. */
export class TransportClosedError extends Error {
  override readonly name = 'TransportClosedError';

  constructor() {
    super('the transport was closed');
  }
}
