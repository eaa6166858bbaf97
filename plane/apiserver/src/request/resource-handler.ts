import { StatusError } from '@castellan/machinery';
import { admissionFor } from '../admission/admission-for.js';
import { rbacGroup } from '../authorization/role-based.js';
import { apiServiceGroup, ensureApiServices } from '../discovery/api-services.js';
import { methodNotAllowed, unknownResource } from '../errors.js';
import type { ApiObject } from '../json.js';
import { type DeleteOptions, deletedStatus, deleteObject } from '../registry/delete.js';
import { assertReached, getObject, listObjects } from '../registry/read.js';
import { hasSubresource, present, presentReady, type Resource } from '../registry/resource.js';
import { createObject, updateObject, type WriteTools } from '../registry/write.js';
import { storageKey } from '../storage/keys.js';
import { serveConnect } from '../streaming/serve-connect.js';
import { serveUsage } from '../usage/serve-usage.js';
import { serveApply } from './apply.js';
import { verbOf } from './authorize.js';
import { readObject } from './body.js';
import { readDeleteOptions } from './delete-options.js';
import type { Exchange, ResourceExchange, ResourceInfo } from './exchange.js';
import { checkFields } from './field-validation.js';
import { listParts } from './list-body.js';
import { assertListOptions } from './list-options.js';
import { negotiate, type Representation } from './negotiation.js';
import { readPatch } from './patch.js';
import { noSuchPath } from './paths.js';
import { assertShape, renderList, renderObject } from './render.js';
import { serveReview } from './reviews.js';
import { parseSelection } from './selection.js';
import type { Server } from './server.js';
import { serveSubresource } from './subresources.js';
import { serveWatch } from './watch-stream.js';
import { readWriteOptions } from './write-options.js';

export async function serveResource(server: Server, exchange: Exchange, asked: ResourceInfo): Promise<void> {
  const info = withoutOldBinding(asked);
  if (await serveReview(server, exchange, info)) return;
  if (await serveUsage(server, exchange, info)) return;
  const resource = await server.registry.find(info);
  if (resource === undefined) {
    if (server.registry.isBuiltInGroup(info.group)) throw unknownResource();
    return noSuchPath(exchange.reply);
  }
  const { definition } = resource;
  if (info.subresource !== '' && !hasSubresource(definition, info.subresource)) throw unknownResource();
  if (!definition.isNamespaced && info.namespace !== undefined) {
    if (!definition.isCustom) throw unknownResource();
    return noSuchPath(exchange.reply);
  }
  if (definition.deprecation !== undefined) exchange.reply.warn(definition.deprecation);
  if (await serveConnect(server, { ...exchange, info, resource })) return;
  const isWatch = verbOf(exchange.request, info) === 'watch';
  const representation: Representation = negotiate(exchange.request.headers.accept, isWatch);
  const full: ResourceExchange = {
    ...exchange,
    info,
    resource,
    tools: writeTools(server, exchange),
    render: {
      representation,
      includeObject: exchange.request.query.get('includeObject') ?? 'Metadata',
      nowMs: server.world.clock.now(),
    },
  };
  if (info.subresource !== '' && info.subresource !== 'status') return serveSubresource(server, full);
  const isCollection = info.name === undefined;
  const isStatus = info.subresource === 'status';
  if (isStatus && !['GET', 'PUT', 'PATCH'].includes(exchange.request.method)) throw methodNotAllowed();
  if (!isCollection && definition.isNamespaced && info.namespace === undefined) throw unknownResource();
  const verb = verbOf(exchange.request, info);
  // Whoever looks at roles sees those that every cluster has.
  if (definition.group === rbacGroup) await server.bootstrapRoles.ready();
  if (definition.group === apiServiceGroup) await ensureApiServices(server);
  await serveVerb(server, full, verb);
  if (definition.kind === 'ClusterRole' && !['get', 'list', 'watch'].includes(verb)) {
    await server.bootstrapRoles.aggregate();
  }
}

/** `bindings` is the name that `pods/NAME/binding` had before pods had subresources. */
function withoutOldBinding(info: ResourceInfo): ResourceInfo {
  const isOld = info.group === '' && info.plural === 'bindings' && info.name === undefined;
  return isOld ? { ...info, plural: 'pods', subresource: 'binding' } : info;
}

function writeTools(server: Server, exchange: Exchange): WriteTools {
  const { request, user, reply } = exchange;
  const { isDryRun, writer } = readWriteOptions(request);
  return {
    namespaces: server.registry.builtin('', 'v1', 'namespaces'),
    leases: server.leases,
    context: {
      world: server.world,
      isDryRun,
      user,
      writer,
      warn: (warning) => reply.warn(warning),
    },
    ...(request.method === 'GET' ? {} : { admission: admissionFor(server, exchange, isDryRun) }),
  };
}

async function serveVerb(server: Server, exchange: ResourceExchange, verb: string): Promise<void> {
  const { definition } = exchange.resource;
  if (exchange.request.method === 'HEAD' || !definition.verbs.some((known) => known === verb)) throw methodNotAllowed();
  switch (verb) {
    case 'get':
      return serveGet(server, exchange);
    case 'list':
      return serveList(server, exchange);
    case 'watch':
      return watch(server, exchange);
    case 'create':
      return serveCreate(exchange);
    case 'update':
    case 'patch':
      return serveUpdate(exchange);
    case 'delete':
      return serveDelete(exchange);
    case 'deletecollection':
      return serveDeleteCollection(server, exchange);
    default:
      throw methodNotAllowed();
  }
}

async function serveGet(server: Server, exchange: ResourceExchange): Promise<void> {
  const { info, request, resource, reply, render } = exchange;
  const name = info.name ?? '';
  await assertReached(server.keyspace, request.query.get('resourceVersion'));
  const object = await getObject(resource, info.namespace, name);
  assertShape(resource.definition, render, false);
  await reply.object(200, renderObject(resource.definition, object, render), render.representation);
}

async function serveList(server: Server, exchange: ResourceExchange): Promise<void> {
  const { info, request, resource, reply, render } = exchange;
  assertListOptions(request.query);
  assertShape(resource.definition, render, true);
  const selection = parseSelection(request.query, resource.definition);
  const list = await listObjects(resource, server.keyspace, {
    namespace: info.namespace,
    query: request.query,
    selection,
  });
  const { shape, format } = render.representation;
  if (shape === 'object' && format === 'json') await reply.parts(listParts(resource.definition, list));
  else await reply.object(200, renderList(resource.definition, list, render), render.representation);
}

async function watch(server: Server, exchange: ResourceExchange): Promise<void> {
  const { info, request, resource, reply, render } = exchange;
  const selection = parseSelection(request.query, resource.definition);
  await serveWatch(resource, request, reply, { namespace: info.namespace, selection, render, world: server.world });
}

/** How to tell of unknown fields, where the client wants to hear of them. */
function warning({ request, reply }: ResourceExchange): (problem: string) => void {
  const isAsked = (request.query.get('fieldValidation') || 'Warn') === 'Warn';
  return (problem) => {
    if (isAsked) reply.warn(problem);
  };
}

async function serveCreate(exchange: ResourceExchange): Promise<void> {
  const { info, request, resource, reply, render, tools } = exchange;
  if (info.name !== undefined) throw methodNotAllowed();
  if (resource.definition.isNamespaced && info.namespace === undefined) throw methodNotAllowed();
  const { object, problems } = await readObject(request, resource.definition, warning(exchange));
  const sent = await checkFields(resource.definition, object, { problems, query: request.query, reply });
  const created = await createObject(resource, info.namespace, sent, tools);
  await reply.object(201, renderObject(resource.definition, created, render), render.representation);
}

async function serveUpdate(exchange: ResourceExchange): Promise<void> {
  const { info, request, resource, reply, render, tools } = exchange;
  const { definition } = resource;
  const target = { namespace: info.namespace, name: info.name ?? '', subresource: info.subresource };
  if (info.name === undefined) throw methodNotAllowed();
  if (request.method === 'PATCH') {
    if (tools.context.writer.operation === 'Apply') return serveApply(exchange);
    const change = await readPatch(exchange, definition);
    const written = await updateObject(resource, { ...target, change, isReplacement: false }, tools);
    await reply.object(200, renderObject(definition, written.object, render), render.representation);
    return;
  }
  const { object, problems } = await readObject(request, definition, warning(exchange));
  const sent = await checkFields(definition, object, { problems, query: request.query, reply });
  const written = await updateObject(
    resource,
    {
      ...target,
      change: () => sent,
      ...(definition.createsOnUpdate ? { createInstead: () => named(sent, target.name) } : {}),
      isReplacement: true,
    },
    tools,
  );
  await reply.object(
    written.isCreated ? 201 : 200,
    renderObject(definition, written.object, render),
    render.representation,
  );
}

function named(object: ApiObject, name: string): ApiObject {
  return { ...object, metadata: { ...object.metadata, name } };
}

async function serveDelete(exchange: ResourceExchange): Promise<void> {
  const { info, resource, reply, render, tools } = exchange;
  const { options, isDryRun, isAccepted } = await readDeleteOptions(exchange.request);
  const context = { ...tools.context, isDryRun: tools.context.isDryRun || isDryRun };
  const target = { namespace: info.namespace, name: info.name ?? '' };
  await admitDelete(exchange, target.name);
  const { isGone, object } = await deleteObject(resource, target, options, context);
  const { definition } = resource;
  const repliesWithObject = !isGone || definition.returnsDeleted;
  const code = !isGone && isAccepted ? 202 : 200;
  const body = repliesWithObject ? renderObject(definition, object, render) : deletedStatus(definition, object);
  await reply.object(code, body, render.representation);
}

async function serveDeleteCollection(server: Server, exchange: ResourceExchange): Promise<void> {
  const { info, request, resource, reply, render, tools } = exchange;
  const { definition } = resource;
  const { options, isDryRun } = await readDeleteOptions(request);
  const context = { ...tools.context, isDryRun: tools.context.isDryRun || isDryRun };
  const selection = parseSelection(request.query, definition);
  const list = await listObjects(resource, server.keyspace, {
    namespace: info.namespace,
    query: request.query,
    selection,
  });
  for (const { object } of list.entries) {
    await admitDelete(exchange, object.metadata.name ?? '');
    await deleteIfThere(resource, present(definition, object), options, context);
  }
  await reply.object(200, renderList(definition, list, render), render.representation);
}

/** Admission sees what is to be deleted. What is not there is for the delete itself to tell. */
async function admitDelete({ resource, info, tools }: ResourceExchange, name: string): Promise<void> {
  const { definition, store } = resource;
  const { namespace } = info;
  const key = storageKey(store.layout, { ...(namespace === undefined ? {} : { namespace }), name });
  const stored = await store.storage.get(key);
  if (stored === undefined) return;
  const current = await presentReady(definition, stored);
  const place = { definition, operation: 'DELETE', subresource: '', namespace, name, current } as const;
  await tools.admission?.validate(place);
}

async function deleteIfThere(
  resource: Resource,
  { metadata }: ApiObject,
  options: DeleteOptions,
  context: WriteTools['context'],
): Promise<void> {
  const { name = '', namespace } = metadata;
  try {
    await deleteObject(resource, { namespace, name }, options, context);
  } catch (error) {
    if (!(error instanceof StatusError && error.reason === 'NotFound')) throw error;
  }
}
