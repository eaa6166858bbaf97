import type { KnownExchange } from '../request/exchange.js';
import type { Server } from '../request/server.js';
import { serveCommand } from './serve-command.js';
import { serveNodeProxy } from './serve-node-proxy.js';
import { servePortForward } from './serve-port-forward.js';
import { serveProxy } from './serve-proxy.js';

type Serve = (server: Server, exchange: KnownExchange) => Promise<void>;

const handlers: Readonly<Record<string, Serve>> = {
  'nodes/proxy': serveNodeProxy,
  'pods/attach': serveCommand,
  'pods/exec': serveCommand,
  'pods/portforward': servePortForward,
  'pods/proxy': serveProxy,
  'services/proxy': serveProxy,
};

/** Requests that join their client to a pod: neither their query nor what they accept is for us. False for all others. */
export async function serveConnect(server: Server, exchange: KnownExchange): Promise<boolean> {
  const { group, plural, subresource } = exchange.info;
  const serve = group === '' && subresource !== '' ? handlers[`${plural}/${subresource}`] : undefined;
  await serve?.(server, exchange);
  return serve !== undefined;
}
