import { StatusError } from '@castellan/machinery';
import { badRequest, methodNotAllowed } from '../errors.js';
import { at, records, text } from '../json.js';
import { getObject } from '../registry/read.js';
import { isTrue } from './authorize.js';
import type { ResourceExchange } from './exchange.js';
import type { Server } from './server.js';

/** GET pods/NAME/log, as the node's agent gives it. */
export async function serveLog(server: Server, { info, request, resource, reply }: ResourceExchange): Promise<void> {
  if (request.method !== 'GET') throw methodNotAllowed();
  const { query } = request;
  const name = info.name ?? '';
  const pod = await getObject(resource, info.namespace, name);
  const container = containerOf(pod, name, query.get('container') ?? '');
  if (text(at(pod, 'spec', 'nodeName')) === undefined) {
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
  const chunks = server.nodeStreams.logs(
    {
      namespace: info.namespace ?? '',
      pod: name,
      container,
      follow: isTrue(query.get('follow')),
      previous: isTrue(query.get('previous')),
      timestamps: isTrue(query.get('timestamps')),
      ...numberOf(query, 'tailLines'),
      ...numberOf(query, 'sinceSeconds'),
      ...numberOf(query, 'limitBytes'),
    },
    abort.signal,
  );
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

/** The container asked for, or the only one. */
function containerOf(pod: object, name: string, asked: string): string {
  const namesIn = (field: string) => records(at(pod, 'spec', field)).map((container) => text(container.name) ?? '');
  const containers = namesIn('containers');
  const initContainers = namesIn('initContainers');
  if (asked !== '') {
    if ([...containers, ...initContainers].includes(asked)) return asked;
    throw badRequest(`container ${asked} is not valid for pod ${name}`);
  }
  const [only] = containers;
  if (containers.length === 1 && only !== undefined) return only;
  const init = initContainers.length === 0 ? '' : ` or one of the init containers: [${initContainers.join(' ')}]`;
  throw badRequest(
    `a container name must be specified for pod ${name}, choose one of: [${containers.join(' ')}]${init}`,
  );
}

function numberOf(query: URLSearchParams, parameter: string): Readonly<Record<string, number>> {
  const value = query.get(parameter);
  if (value === null || value === '') return {};
  const number = Number(value);
  if (!Number.isInteger(number) || number < 0) throw badRequest(`invalid ${parameter}: ${JSON.stringify(value)}`);
  return { [parameter]: number };
}
