import { StatusError } from '@castellan/machinery';
import { at } from '../json.js';
import { getObject } from '../registry/read.js';
import type { KnownExchange } from '../request/exchange.js';
import type { Server } from '../request/server.js';
import { admitOptions } from './connect.js';

const textType = 'text/plain; charset=utf-8';

/**
 * nodes/NAME/proxy/PATH: what is asked of a kubelet most. The agents of this plane have no HTTP API of their own, so it is answered here: whether
 * the node's agent works, and which pods it has.
 */
export async function serveNodeProxy(server: Server, exchange: KnownExchange): Promise<void> {
  const { info, request, reply, resource } = exchange;
  const name = (info.name ?? '').replace(/^https?:/, '').replace(/:\d*$/, '');
  const path = /^(?:\/[^/]*){5}(.*)$/s.exec(request.path)?.[1] ?? '';
  await admitOptions(server, exchange, { kind: 'NodeProxyOptions', options: path === '' ? {} : { path } });
  await getObject(resource, undefined, name);
  assertRuns(server, name);
  switch (path.replace(/\/$/, '')) {
    case '/healthz':
      reply.text(200, 'ok', textType);
      return;
    case '/pods':
      await reply.object(200, await podsOn(server, name));
      return;
    default:
      reply.text(404, '404 page not found\n', textType);
  }
}

/** Throws the agent's own reason when it is switched off. */
function assertRuns(server: Server, name: string): void {
  if (server.nodeStreams === undefined) {
    const why = 'this server runs without a node agent; start the plane without --no-node';
    throw StatusError.of('ServiceUnavailable', `error trying to reach service: ${why}`);
  }
  server.nodeStreams(name);
}

async function podsOn(server: Server, name: string) {
  const { store } = server.registry.builtin('', 'v1', 'pods');
  await store.cache.fresh();
  const items = store.cache
    .list(store.layout.prefix)
    .map(({ object }) => object)
    .filter((pod) => at(pod, 'spec', 'nodeName') === name);
  return { kind: 'PodList', apiVersion: 'v1', metadata: {}, items };
}
