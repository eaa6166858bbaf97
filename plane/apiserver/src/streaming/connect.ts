import { StatusError } from '@castellan/machinery';
import { admissionFor } from '../admission/admission-for.js';
import { attributesOf } from '../authorization/attributes.js';
import { badRequest, forbidden, methodNotAllowed } from '../errors.js';
import type { ApiObject, JsonRecord } from '../json.js';
import { asApiObject, at, text } from '../json.js';
import { getObject } from '../registry/read.js';
import type { KnownExchange } from '../request/exchange.js';
import type { Server } from '../request/server.js';
import { assertHasHost } from '../request/target-container.js';
import type { NodeStreams } from '../server/node-streams.js';

/** A pod that a client may be joined to, and the options as admission left them. */
export interface Connection {
  readonly namespace: string;
  readonly name: string;
  readonly pod: ApiObject;
  readonly options: ApiObject;
  readonly node: NodeStreams;
}

/** The options of a connection, as admission sees them. */
export interface ConnectOptions {
  readonly kind: string;
  readonly options: JsonRecord;
}

/**
 * What comes before every connection to a pod: admission (CONNECT), the right to `create` whatever the method — a
 * WebSocket's GET is authorised as `get`, and would else let readers in (KEP-4006) — and the pod itself.
 */
export async function admitConnection(
  server: Server,
  exchange: KnownExchange,
  asked: ConnectOptions,
): Promise<Connection> {
  const { info, request, resource, user } = exchange;
  if (request.method !== 'GET' && request.method !== 'POST') throw methodNotAllowed();
  const name = info.name ?? '';
  const namespace = info.namespace ?? '';
  const options = await admitOptions(server, exchange, asked);
  const { isAllowed, reason } = await server.authorizer.decide(attributesOf(user, 'create', info));
  if (!isAllowed) throw forbidden(resource.definition, name, reason);
  const pod = await getObject(resource, namespace, name);
  assertHasHost(pod, name);
  return {
    namespace,
    name,
    pod,
    options,
    node: nodeOf(server, { pod: name, node: text(at(pod, 'spec', 'nodeName')) ?? '' }),
  };
}

/** Admission of a connection (CONNECT): the options as it leaves them. */
export async function admitOptions(
  server: Server,
  exchange: KnownExchange,
  { kind, options }: ConnectOptions,
): Promise<ApiObject> {
  const { namespace, name = '', subresource } = exchange.info;
  const definition = { ...exchange.resource.definition, kind, strategy: {} };
  const place = { definition, operation: 'CONNECT', subresource, namespace, name } as const;
  const admission = admissionFor(server, exchange, false);
  const object = await admission.mutate({ ...place, object: asApiObject({ kind, apiVersion: 'v1', ...options }) });
  await admission.validate({ ...place, object });
  return object;
}

/** Upstream's order: what the request lacks is told after what the pod lacks. */
export function assertUpgrade({ request }: KnownExchange): void {
  if (request.upgrade === undefined) throw badRequest('Upgrade request required');
}

/** The agent of the pod's node. Fails with a 503 where no node agent runs. */
export function nodeOf(server: Server, { pod, node }: { readonly pod: string; readonly node: string }): NodeStreams {
  if (server.nodeStreams !== undefined) return server.nodeStreams(node);
  throw StatusError.of(
    'ServiceUnavailable',
    `pod ${pod} cannot be reached: this server runs without a node agent; start the plane without --no-node`,
  );
}
