import { apiVersionOf, fieldError, invalidError, StatusError } from '@castellan/machinery';
import { methodNotAllowed } from '../errors.js';
import { type ApiObject, asApiObject, at, count, text, withAt } from '../json.js';
import { notNegative } from '../pods/scalar-rules.js';
import { scaleColumns } from '../printers/scale-columns.js';
import { selectorText } from '../printers/selector-text.js';
import { withApplied } from '../registry/field-ownership.js';
import { getObject } from '../registry/read.js';
import type { ScalePaths } from '../registry/scale-paths.js';
import { updateObject } from '../registry/write.js';
import { readApplied } from './apply.js';
import { readObject } from './body.js';
import type { ResourceExchange } from './exchange.js';
import { readPatch } from './patch.js';
import { assertShape, renderObject } from './render.js';
import { isForced } from './write-options.js';

interface ScaledKind {
  readonly group: string;
  readonly kind: string;
  readonly isCustom: boolean;
  readonly scale: ScalePaths;
}

const scaleKind = { group: 'autoscaling', version: 'v1', kind: 'Scale' } as const;

/** A Scale is read as the objects of the kind that it scales are: custom ones must say what they are. */
function kindOfScale({ definition }: ResourceExchange['resource']) {
  return { ...scaleKind, isCustom: definition.isCustom };
}

/** GET, PUT and PATCH of NAME/scale: the number of replicas of any kind that has one. */
export async function serveScale(exchange: ResourceExchange): Promise<void> {
  const { info, request, resource, tools } = exchange;
  const paths = resource.definition.scale;
  if (paths === undefined) throw methodNotAllowed();
  const name = info.name ?? '';
  if (request.method === 'GET') {
    const object = await getObject(resource, info.namespace, name);
    if (resource.definition.isCustom) assertReplicas(object, paths);
    await showScale(exchange, scaleOf(object, paths));
    return;
  }
  if (request.method === 'PATCH' && tools.context.writer.operation === 'Apply') return applyScale(exchange, paths);
  const change =
    request.method === 'PATCH' ? await readPatch(exchange, kindOfScale(resource)) : await replacement(exchange);
  const target = { namespace: info.namespace, name, subresource: 'scale', isReplacement: request.method === 'PUT' };
  const { object } = await updateObject(
    resource,
    {
      ...target,
      change: async (current) =>
        withReplicas(current, await change(scaleOf(current, paths)), { ...resource.definition, scale: paths }),
    },
    tools,
  );
  await showScale(exchange, scaleOf(object, paths));
}

/** A Scale that is applied owns the number of replicas, and nothing else of the object. */
async function applyScale(exchange: ResourceExchange, paths: ScalePaths): Promise<void> {
  const { info, request, resource, tools } = exchange;
  const { definition } = resource;
  const { namespace, name = '' } = info;
  const { applied: scale } = await readApplied(request, kindOfScale(resource), name);
  const own = { apiVersion: apiVersionOf(definition), kind: definition.kind, metadata: scale.metadata };
  const applied = withReplicas(own, scale, { ...definition, scale: paths });
  const ownership = { subresource: 'scale', isForced: isForced(request) };
  const change = (current: ApiObject) => withApplied(definition, applied, { ...ownership, current }, tools.context);
  const target = { namespace, name, subresource: 'scale', isReplacement: false };
  const { object } = await updateObject(resource, { ...target, change }, tools);
  await showScale(exchange, scaleOf(object, paths));
}

/** In its own columns, which are not those of the kind that is scaled. */
async function showScale({ resource, reply, render }: ResourceExchange, scale: ApiObject): Promise<void> {
  const { isCustom } = resource.definition;
  const columns = isCustom ? scaleColumns.ofCustom : scaleColumns.ofBuiltIn;
  const definition = { ...resource.definition, plural: 'scales', columns };
  assertShape(definition, render, false);
  await reply.object(200, renderObject(definition, scale, render), render.representation);
}

async function replacement({
  request,
  resource,
}: ResourceExchange): Promise<(scale: ApiObject) => ApiObject | Promise<ApiObject>> {
  if (request.method !== 'PUT') throw methodNotAllowed();
  const { object } = await readObject(request, kindOfScale(resource));
  return () => object;
}

/** A custom resource may hold no number of replicas: then it has no scale to show. A write of the scale sets it. */
function assertReplicas(object: ApiObject, { specReplicas }: ScalePaths): void {
  if (at(object, ...specReplicas) !== undefined) return;
  const message = `the spec replicas field ".${specReplicas.join('.')}" does not exist`;
  throw StatusError.of('InternalError', `Internal error occurred: ${message}`, { causes: [{ message }] });
}

function scaleOf(object: ApiObject, paths: ScalePaths): ApiObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const selector = selectorOf(object, paths);
  return asApiObject({
    kind: scaleKind.kind,
    apiVersion: 'autoscaling/v1',
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    spec: { replicas: count(at(object, ...paths.specReplicas)) ?? 0 },
    status: {
      replicas: count(at(object, ...paths.statusReplicas)) ?? 0,
      ...(selector === undefined ? {} : { selector }),
    },
  });
}

function selectorOf(object: ApiObject, { labelSelector, selector }: ScalePaths): string | undefined {
  if (labelSelector !== undefined) return text(at(object, ...labelSelector));
  return selector === undefined ? undefined : selectorText(at(object, ...selector));
}

function withReplicas(current: ApiObject, scale: ApiObject, { scale: paths, ...type }: ScaledKind): ApiObject {
  const replicas = count(at(scale, 'spec', 'replicas')) ?? 0;
  if (replicas < 0 && !type.isCustom) {
    throw invalidError(scaleKind, current.metadata.name ?? '', notNegative(replicas, 'spec.replicas'));
  }
  if (replicas < 0) {
    const path = `.${paths.specReplicas.join('.')}`;
    throw invalidError(type, current.metadata.name ?? '', [
      fieldError.invalid(path, replicas, 'should be a non-negative integer'),
    ]);
  }
  const { resourceVersion, uid } = scale.metadata;
  const changed = asApiObject(withAt(current, paths.specReplicas, replicas));
  return {
    ...changed,
    metadata: {
      ...changed.metadata,
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
      ...(uid === undefined ? {} : { uid }),
    },
  };
}
