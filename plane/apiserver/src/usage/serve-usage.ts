import { apiVersionOf, StatusError } from '@castellan/machinery';
import { methodNotAllowed, notFound, unknownResource } from '../errors.js';
import { type ApiObject, without } from '../json.js';
import { getObject, listObjects } from '../registry/read.js';
import type { ResourceDefinition } from '../registry/resource.js';
import { verbOf } from '../request/authorize.js';
import type { Exchange, ResourceInfo } from '../request/exchange.js';
import { negotiate } from '../request/negotiation.js';
import { assertShape, renderList, renderObject } from '../request/render.js';
import type { RenderOptions } from '../request/render-options.js';
import { parseSelection } from '../request/selection.js';
import type { Server } from '../request/server.js';
import { nodeUsageKind, podUsageKind, usageGroup, usageKinds } from './usage-kinds.js';
import { nodeMetrics, podMetrics } from './usage-objects.js';
import type { UsageSource } from './usage-source.js';

/**
 * Answers `kubectl top`: metrics.k8s.io as metrics-server has it, of nodes and pods that are there now. False when the request is
 * for something else, or there are no nodes to ask. Source: kubernetes-sigs/metrics-server, "Resource Metrics API".
 */
export async function serveUsage(server: Server, exchange: Exchange, info: ResourceInfo): Promise<boolean> {
  const { usage } = server;
  if (info.group !== usageGroup || usage === undefined) return false;
  const definition = usageKinds.find(({ version, plural }) => version === info.version && plural === info.plural);
  const isMisplaced = info.namespace !== undefined && definition?.isNamespaced !== true;
  if (definition === undefined || info.subresource !== '' || isMisplaced) throw unknownResource();
  const verb = verbOf(exchange.request, info);
  if (exchange.request.method !== 'GET' || (verb !== 'get' && verb !== 'list')) throw methodNotAllowed();
  const render: RenderOptions = {
    representation: negotiate(exchange.request.headers.accept),
    includeObject: exchange.request.query.get('includeObject') ?? 'Metadata',
    nowMs: server.world.clock.now(),
  };
  assertShape(definition, render, verb === 'list');
  const body =
    verb === 'get'
      ? renderObject(definition, await oneOf(server, usage, info), render)
      : await listOf(server, exchange, { definition, usage, info, render });
  await exchange.reply.object(200, body, render.representation);
  return true;
}

async function oneOf(server: Server, usage: UsageSource, info: ResourceInfo): Promise<ApiObject> {
  const { namespace, name = '' } = info;
  const isPods = info.plural === 'pods';
  if (isPods && namespace === undefined) throw unknownResource();
  const object = await getObject(server.registry.builtin('', 'v1', info.plural), namespace, name);
  const metrics = await measuredOf(usage, info.plural);
  const found = metrics(object);
  if (found !== undefined) return found;
  const kind = isPods ? podUsageKind : nodeUsageKind;
  throw notFound({ ...kind, plural: kind.kind.toLowerCase() }, isPods ? `${namespace}/${name}` : name);
}

interface Listing {
  readonly definition: ResourceDefinition;
  readonly usage: UsageSource;
  readonly info: ResourceInfo;
  readonly render: RenderOptions;
}

/** Of what is selected, that of which something was measured. */
async function listOf(
  server: Server,
  { request }: Exchange,
  { definition, usage, info, render }: Listing,
): Promise<unknown> {
  const resource = server.registry.builtin('', 'v1', info.plural);
  const { namespace } = info;
  const selection = parseSelection(request.query, resource.definition);
  const found = await listObjects(resource, server.keyspace, { namespace, query: new URLSearchParams(), selection });
  const metrics = await measuredOf(usage, info.plural);
  const entries = found.entries.flatMap((entry) => {
    const object = metrics(entry.object);
    return object === undefined ? [] : [{ ...entry, object }];
  });
  if (render.representation.shape !== 'object') return renderList(definition, { ...found, entries }, render);
  return {
    kind: definition.listKind,
    apiVersion: apiVersionOf(definition),
    metadata: {},
    items: entries.map(({ object }) => without(object, 'kind', 'apiVersion')),
  };
}

/** @throws StatusError 503 when the nodes cannot be asked. */
async function measuredOf(usage: UsageSource, plural: string): Promise<(object: ApiObject) => ApiObject | undefined> {
  const nodes = await usage().catch((error: unknown) => {
    const problem = error instanceof Error ? error.message : String(error);
    throw StatusError.of('ServiceUnavailable', `the server is currently unable to handle the request: ${problem}`);
  });
  if (plural === 'nodes') {
    const byName = new Map(nodes.map((node) => [node.name, node]));
    return (object) => nodeMetrics(object, byName.get(object.metadata.name ?? ''));
  }
  const byName = new Map(nodes.flatMap(({ pods }) => pods).map((pod) => [`${pod.namespace}/${pod.name}`, pod]));
  return (object) => podMetrics(object, byName.get(`${object.metadata.namespace}/${object.metadata.name}`));
}
