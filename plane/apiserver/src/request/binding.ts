import { formatFieldError } from '@castellan/machinery';
import { badRequest, conflict, internalError, methodNotAllowed } from '../errors.js';
import { type ApiObject, at, type JsonRecord, record, records, text, withAt } from '../json.js';
import { oneOfOrUnset, requiredText } from '../pods/scalar-rules.js';
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
  const name = info.name ?? binding.metadata.name ?? '';
  if (info.name !== undefined && binding.metadata.name !== info.name) {
    throw badRequest('name in URL does not match name in Binding object');
  }
  assertTarget(record(binding.target));
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

/** Upstream tells of these as of faults of its own: 500, without a reason. */
function assertTarget({ kind, name }: JsonRecord): void {
  const problems = [
    ...oneOfOrUnset((text(kind) ?? '') === '' ? undefined : kind, ['Node', '<empty>'], 'target.kind'),
    ...requiredText(name, 'target.name'),
  ].map(formatFieldError);
  if (problems.length === 0) return;
  const message = problems.length > 1 ? `[${problems.join(', ')}]` : problems.join('');
  throw internalError(message);
}
