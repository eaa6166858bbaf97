import { realWorld, waitFor } from '@castellan/world';
import { type Client, type ConnectOptions, connect } from '../src/index.js';
import { certificate } from './self-signed.js';
import { startTestServer, type TestServer } from './test-server.js';

const world = realWorld();

export const key = { namespace: 'default', name: 'a' };
export const configMap = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'default', name: 'a', resourceVersion: '7' },
};

/** A client of a server that answers as `handler` does; both are closed after `use`. */
export async function withServer(
  handler: Parameters<typeof startTestServer>[0],
  use: (client: Client, server: TestServer) => Promise<void>,
  options: { server?: Parameters<typeof startTestServer>[1]; client?: ConnectOptions } = {},
): Promise<void> {
  const server = await startTestServer(handler, options.server);
  const client = connect(
    { server: server.url, caCertificate: certificate, token: 'secret' },
    { world, ...options.client },
  );
  try {
    await use(client, server);
  } finally {
    await client.close();
    await server.close();
  }
}

/** Waits at most 30 s. */
export function until(what: string, condition: () => boolean): Promise<unknown> {
  return waitFor(world, condition, { what, deadlineMs: 30_000, everyMs: 5 });
}

/** Leaves the watch after its first event. */
export async function nextOf<T>(events: AsyncIterable<T>): Promise<T | undefined> {
  for await (const event of events) return event;
  return undefined;
}
