import { methodNotAllowed } from '../errors.js';
import { type ApiObject, record, records } from '../json.js';
import { getObject } from '../registry/read.js';
import { timestamp } from '../registry/strategy.js';
import { updateObject } from '../registry/write.js';
import { readObject } from './body.js';
import type { ResourceExchange } from './exchange.js';
import { readPatch } from './patch.js';
import { renderObject } from './render.js';

/** GET, PUT and PATCH certificatesigningrequests/NAME/approval: whoever may approve writes the conditions alone. */
export async function serveApproval(exchange: ResourceExchange): Promise<void> {
  const { info, request, resource, reply, render, tools } = exchange;
  const { definition } = resource;
  const name = info.name ?? '';
  if (request.method === 'GET') {
    const object = await getObject(resource, info.namespace, name);
    await reply.object(200, renderObject(definition, object, render), render.representation);
    return;
  }
  if (request.method !== 'PUT' && request.method !== 'PATCH') throw methodNotAllowed();
  const sent =
    request.method === 'PATCH'
      ? await readPatch(exchange, definition)
      : await readObject(request, definition).then(
          ({ object }) =>
            () =>
              object,
        );
  const now = timestamp(tools.context.world);
  const change = async (current: ApiObject): Promise<ApiObject> => {
    const asked = await sent(current);
    const { resourceVersion, uid } = asked.metadata;
    const metadata = {
      ...current.metadata,
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
      ...(uid === undefined ? {} : { uid }),
    };
    const conditions = records(record(asked.status).conditions).map((condition) => ({
      ...condition,
      lastUpdateTime: condition.lastUpdateTime ?? now,
      lastTransitionTime: condition.lastTransitionTime ?? now,
    }));
    const status = { ...record(current.status), ...(conditions.length === 0 ? {} : { conditions }) };
    return { ...current, metadata, status };
  };
  const target = { namespace: undefined, name, subresource: 'approval', isReplacement: request.method === 'PUT' };
  const { object } = await updateObject(resource, { ...target, change }, tools);
  await reply.object(200, renderObject(definition, object, render), render.representation);
}
