import { StatusError } from '@castellan/machinery';
import { methodNotAllowed } from '../errors.js';
import { at, text } from '../json.js';
import { getObject } from '../registry/read.js';
import type { ResourceExchange } from './exchange.js';
import { readLogOptions } from './log-options.js';
import type { Server } from './server.js';
import { targetContainer } from './target-container.js';

/** GET pods/NAME/log, as the node's agent gives it. */
export async function serveLog(server: Server, { info, request, resource, reply }: ResourceExchange): Promise<void> {
  if (request.method !== 'GET') throw methodNotAllowed();
  const { query } = request;
  const name = info.name ?? '';
  const options = readLogOptions(query, name, server.world.clock.now());
  const pod = await getObject(resource, info.namespace, name);
  const container = targetContainer(pod, name, query.get('container') ?? '');
  const nodeName = text(at(pod, 'spec', 'nodeName'));
  if (nodeName === undefined) {
    reply.text(200, '', 'text/plain');
    return;
  }
  if (server.nodeStreams === undefined) {
    throw StatusError.of(
      'ServiceUnavailable',
      `logs of pod ${name} cannot be had: this server runs without a node agent; start the plane without --no-node`,
    );
  }
  const abort = new AbortController();
  request.onClose(() => abort.abort());
  const wish = { namespace: info.namespace ?? '', pod: name, container, ...options };
  const chunks = server.nodeStreams(nodeName).logs(wish, abort.signal);
  const iterator = chunks[Symbol.asyncIterator]();
  // A log that cannot be had at all is a failure of the request, so the first piece comes before the head.
  let next = await iterator.next();
  const writer = reply.stream('text/plain');
  try {
    for (; next.done !== true && !writer.isEnded; next = await iterator.next()) {
      if (!writer.write(next.value)) await new Promise<void>((resolve) => writer.onDrain(resolve));
    }
  } finally {
    if (!writer.isEnded) writer.end();
    await iterator.return?.();
  }
}
