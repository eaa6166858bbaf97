// Walk 4/10: the API server's watch, written through the keyspace, arrives here; core/runtime's informer reads it.
import {
  type KubernetesObject,
  parseExactJson,
  type ResourceType,
  resourcePath,
  StatusError,
} from '@castellan/machinery';
import type { World } from '@castellan/world';
import type { WatchEvent, WatchOptions } from './client.js';
import { startDeadline } from './deadline.js';
import type { Exchange } from './exchange.js';
import { LineSplitter } from './line-splitter.js';
import { watchQuery } from './query.js';
import { isObjectOf, isStatus, readBody, statusErrorOf } from './reply.js';

const defaultTimeoutSeconds = 600;
/** How long after its own timeout a server may take to end the stream; one that is silent for longer is dead. */
const endMarginMs = 15_000;
/** Objects are at most about 1.5 MB in etcd, 3 MB in requests; JSON escapes may double that. */
const maxLineLength = 16 * 1024 * 1024;

/**
 * One watch request as an async iterable: a line of JSON per event. Ends when the server ends the stream; throws when it
 * breaks, when an ERROR event comes, when a line is not an event, and with the signal's reason on abort.
 */
export async function* watchStream<T extends KubernetesObject>(
  exchange: Exchange,
  world: World,
  type: ResourceType<T>,
  options: WatchOptions,
): AsyncGenerator<WatchEvent<T>, void, undefined> {
  const timeoutSeconds = options.timeoutSeconds ?? defaultTimeoutSeconds;
  const path = resourcePath(type, options.namespace === undefined ? {} : { namespace: options.namespace });
  const end = startDeadline(world.clock, timeoutSeconds * 1_000 + endMarginMs, 'the watch to end', options.signal);
  const request = {
    method: 'GET',
    path: path + watchQuery(options, timeoutSeconds),
    ...(options.metadataOnly === true ? { headers: { accept: metadataAccept } } : {}),
    signal: end.signal,
  };
  try {
    const response = await exchange.open(request);
    if (response.status !== 200) throw statusErrorOf(response, await readBody(response));
    const splitter = new LineSplitter(maxLineLength);
    for await (const chunk of response.body) {
      for (const line of splitter.push(chunk)) {
        if (line !== '') yield eventOf<T>(line);
      }
    }
    if (splitter.hasPending) throw new Error('the watch ended in the middle of an event');
  } catch (error) {
    throw exchange.failure(
      error,
      { ...request, ...(options.signal === undefined ? {} : { signal: options.signal }) },
      end,
    );
  } finally {
    end.dispose();
  }
}

const metadataAccept = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';

function eventOf<T extends KubernetesObject>(line: string): WatchEvent<T> {
  const event: unknown = parseExactJson(line);
  if (typeof event !== 'object' || event === null || !('type' in event) || !('object' in event)) {
    throw new SyntaxError(`not a watch event: ${line.slice(0, 100)}`);
  }
  const { type, object } = event;
  if (type === 'ERROR') {
    throw isStatus(object)
      ? new StatusError(object)
      : new SyntaxError(`an ERROR event without a Status: ${line.slice(0, 200)}`);
  }
  if (!isObjectOf<T>(object)) throw new SyntaxError(`a watch event without an object: ${line.slice(0, 100)}`);
  switch (type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      return { type, object };
    case 'BOOKMARK':
      return { type, object };
    default:
      throw new SyntaxError(`an unknown type of watch event: ${line.slice(0, 100)}`);
  }
}
