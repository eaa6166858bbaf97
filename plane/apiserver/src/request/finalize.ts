import { methodNotAllowed } from '../errors.js';
import { at, withAt } from '../json.js';
import { updateObject } from '../registry/write.js';
import { readObject } from './body.js';
import type { ResourceExchange } from './exchange.js';
import { renderObject } from './render.js';

/** PUT namespaces/NAME/finalize: takes finalizers out of spec; without any, a namespace that is being deleted is gone. */
export async function serveFinalize(exchange: ResourceExchange): Promise<void> {
  const { info, request, resource, reply, render, tools } = exchange;
  if (request.method !== 'PUT') throw methodNotAllowed();
  const { object: sent } = await readObject(request, resource.definition);
  const finalizers = at(sent, 'spec', 'finalizers');
  const target = { namespace: undefined, name: info.name ?? '', subresource: 'finalize', isReplacement: true };
  const { object } = await updateObject(
    resource,
    {
      ...target,
      change: (current) => ({
        ...current,
        metadata: { ...current.metadata, ...versionOf(sent.metadata.resourceVersion) },
        spec: withAt(current.spec, ['finalizers'], finalizers ?? []),
      }),
    },
    tools,
  );
  await reply.object(200, renderObject(resource.definition, object, render), render.representation);
}

function versionOf(resourceVersion: string | undefined) {
  return resourceVersion === undefined ? {} : { resourceVersion };
}
