import { badRequest, conflict, methodNotAllowed } from '../errors.js';
import { type ApiObject, at, record, records, text, withAt } from '../json.js';
import { timestamp } from '../registry/strategy.js';
import { updateObject } from '../registry/write.js';
import { readObject } from './body.js';
import type { ResourceExchange } from './exchange.js';

/** POST pods/NAME/binding, or bindings: the scheduler's decision. A pod is bound once. */
export async function serveBinding(exchange: ResourceExchange): Promise<void> {
  const { info, request, resource, reply, tools } = exchange;
  if (request.method !== 'POST') throw methodNotAllowed();
  const { object: binding } = await readObject(request, { group: '', version: 'v1', kind: 'Binding' });
  const nodeName = text(at(binding, 'target', 'name')) ?? '';
  if (nodeName === '') throw badRequest('Binding "" is invalid: target.name: Required value');
  const name = info.name ?? binding.metadata.name ?? '';
  const bind = (pod: ApiObject): ApiObject => {
    const bound = text(at(pod, 'spec', 'nodeName')) ?? '';
    if (bound !== '') throw conflict(resource.definition, name, `pod ${name} is already assigned to node "${bound}"`);
    if (pod.metadata.deletionTimestamp !== undefined) {
      throw conflict(resource.definition, name, `pod ${name} is being deleted, cannot be assigned to a host`);
    }
    const spec = withAt(pod.spec, ['nodeName'], nodeName);
    const scheduled = {
      type: 'PodScheduled',
      status: 'True',
      lastProbeTime: null,
      lastTransitionTime: timestamp(tools.context.world),
    };
    const status = record(pod.status);
    const others = records(status.conditions).filter(({ type }) => type !== 'PodScheduled');
    return { ...pod, spec, status: { ...status, conditions: [...others, scheduled] } };
  };
  const target = { namespace: info.namespace, name, subresource: 'binding', isReplacement: false };
  await updateObject(resource, { ...target, change: bind }, tools);
  await reply.object(201, { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 });
}
