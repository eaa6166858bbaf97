import { StatusError } from '@castellan/machinery';
import { admissionFor } from '../admission/admission-for.js';
import { attributesOf } from '../authorization/attributes.js';
import { badRequest, forbidden, methodNotAllowed } from '../errors.js';
import type { ApiObject, JsonRecord } from '../json.js';
import { asApiObject } from '../json.js';
import { getObject } from '../registry/read.js';
import type { ResourceExchange } from '../request/exchange.js';
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

/**
 * What comes before every connection to a pod: admission (CONNECT), the right to `create` whatever the method — a
 * WebSocket's GET is authorised as `get`, and would else let readers in (KEP-4006) — and the pod itself.
 */
export async function admitConnection(
  server: Server,
  exchange: ResourceExchange,
  { kind, options: asked }: { readonly kind: string; readonly options: JsonRecord },
): Promise<Connection> {
  const { info, request, resource, user } = exchange;
  if (request.method !== 'GET' && request.method !== 'POST') throw methodNotAllowed();
  const name = info.name ?? '';
  const namespace = info.namespace ?? '';
  const definition = { ...resource.definition, kind, strategy: {} };
  const place = { definition, operation: 'CONNECT', subresource: info.subresource, namespace, name } as const;
  const admission = admissionFor(server, exchange, false);
  const options = await admission.mutate({ ...place, object: asApiObject({ kind, apiVersion: 'v1', ...asked }) });
  await admission.validate({ ...place, object: options });
  const { isAllowed, reason } = await server.authorizer.decide(attributesOf(user, 'create', info));
  if (!isAllowed) throw forbidden(resource.definition, name, reason);
  const pod = await getObject(resource, namespace, name);
  return { namespace, name, pod, options, node: nodeOf(server, pod, name) };
}

/** Upstream's order: what the request lacks is told after what the pod lacks. */
export function assertUpgrade({ request }: ResourceExchange): void {
  if (request.upgrade === undefined) throw badRequest('Upgrade request required');
}

function nodeOf(server: Server, pod: ApiObject, name: string): NodeStreams {
  assertHasHost(pod, name);
  if (server.nodeStreams !== undefined) return server.nodeStreams;
  throw StatusError.of(
    'ServiceUnavailable',
    `pod ${name} cannot be reached: this server runs without a node agent; start the plane without --no-node`,
  );
}
