import { methodNotAllowed } from '../errors.js';
import { type ApiObject, at, type JsonRecord, record, records } from '../json.js';
import { getObject } from '../registry/read.js';
import { updateObject } from '../registry/write.js';
import { readObject } from './body.js';
import type { ResourceExchange } from './exchange.js';
import { checkFields } from './field-validation.js';
import { readPatch } from './patch.js';
import { renderObject } from './render.js';

/** What of a pod's spec each of its subresources writes; `sent` may differ in more. */
const parts: Readonly<Record<string, (spec: JsonRecord, sent: JsonRecord) => JsonRecord>> = {
  ephemeralcontainers: (spec, { ephemeralContainers }) => ({ ...spec, ephemeralContainers }),
  resize: (spec, sent) => ({
    ...spec,
    ...resized('containers', spec, sent),
    ...resized('initContainers', spec, sent),
  }),
};

/** GET, PUT and PATCH of pods/NAME/ephemeralcontainers and pods/NAME/resize: the pod, of which one part is written. */
export async function servePodPart(exchange: ResourceExchange): Promise<void> {
  const { info, request, resource, reply, render, tools } = exchange;
  const { definition } = resource;
  const part = parts[info.subresource];
  const name = info.name ?? '';
  if (part === undefined || !['GET', 'PUT', 'PATCH'].includes(request.method)) throw methodNotAllowed();
  if (request.method === 'GET') {
    const pod = await getObject(resource, info.namespace, name);
    await reply.object(200, renderObject(definition, pod, render), render.representation);
    return;
  }
  const change = request.method === 'PATCH' ? await readPatch(exchange, definition) : await replacement(exchange);
  const target = { namespace: info.namespace, name, subresource: info.subresource };
  const { object } = await updateObject(
    resource,
    {
      ...target,
      change: async (current) => {
        const sent = await change(current);
        return { ...withVersionOf(sent, current), spec: part(record(current.spec), record(sent.spec)) };
      },
      isReplacement: request.method === 'PUT',
    },
    tools,
  );
  await reply.object(200, renderObject(definition, object, render), render.representation);
}

async function replacement({ request, reply, resource }: ResourceExchange): Promise<() => ApiObject> {
  const { object, problems } = await readObject(request, resource.definition);
  const sent = await checkFields(resource.definition, object, { problems, query: request.query, reply });
  return () => sent;
}

/** The stored pod, to be written only where it is still what the client saw. */
function withVersionOf(sent: ApiObject, current: ApiObject): ApiObject {
  const { name, namespace, uid, resourceVersion, managedFields } = sent.metadata;
  return {
    ...current,
    metadata: {
      ...current.metadata,
      ...(name === undefined ? {} : { name }),
      ...(namespace === undefined ? {} : { namespace }),
      ...(uid === undefined ? {} : { uid }),
      ...(managedFields === undefined ? {} : { managedFields }),
      resourceVersion: resourceVersion ?? '',
    },
  };
}

/** Containers with the resources that are asked for. */
function resized(field: string, spec: JsonRecord, sent: JsonRecord): JsonRecord {
  if (spec[field] === undefined) return {};
  const asked = new Map(records(sent[field]).map((container) => [container.name, container]));
  return {
    [field]: records(spec[field]).map((container) => {
      const next = asked.get(container.name);
      if (next === undefined) return container;
      const { resources: _, resizePolicy: __, ...kept } = container;
      const policy = at(next, 'resizePolicy');
      return { ...kept, resources: record(next.resources), ...(policy === undefined ? {} : { resizePolicy: policy }) };
    }),
  };
}
