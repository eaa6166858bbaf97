import { deepEqual, type FieldError, fieldError } from '@castellan/machinery';
import { type ApiObject, at, type JsonRecord, record, records, text, without } from '../json.js';
import { qosClassOf } from './quality-of-service.js';

const mirrorAnnotation = 'kubernetes.io/config.mirror';

/** What of a running pod's resources may change. Source: KEP-1287. */
export function resizeErrors(pod: ApiObject, current: ApiObject): readonly FieldError[] {
  const before = record(current.spec);
  const unsupported = unsupportedKind(current);
  if (unsupported !== undefined) return [fieldError.forbidden('', unsupported)];
  const qosClass = text(at(current, 'status', 'qosClass')) ?? qosClassOf(current);
  return [
    ...(qosClass === qosClassOf(pod)
      ? []
      : [fieldError.invalid('spec', qosClass, 'Pod QOS Class may not change as a result of resizing')]),
    ...(isSupportedByNode(current)
      ? []
      : [fieldError.forbidden('spec', 'Pod running on node without support for resize')]),
    ...containersErrors('initContainers', record(pod.spec), before),
    ...containersErrors('containers', record(pod.spec), before),
  ];
}

function unsupportedKind({ metadata, spec }: ApiObject): string | undefined {
  if (metadata.annotations?.[mirrorAnnotation] !== undefined) return 'static pods cannot be resized';
  return at(spec, 'os', 'name') === 'windows' ? 'windows pods cannot be resized' : undefined;
}

/** A node that can resize tells what each container that runs has been given. */
function isSupportedByNode(pod: ApiObject): boolean {
  const running = records(at(pod, 'status', 'containerStatuses')).find(
    ({ state }) => at(state, 'running') !== undefined,
  );
  return running === undefined || running.resources !== undefined;
}

function containersErrors(
  field: 'containers' | 'initContainers',
  spec: JsonRecord,
  before: JsonRecord,
): readonly FieldError[] {
  const next = records(spec[field]);
  return records(before[field]).flatMap((old, index) => {
    const now = next[index] ?? {};
    const isInit = field === 'initContainers';
    if (isInit && old.restartPolicy !== 'Always') {
      const problem = 'resources for non-sidecar init containers are immutable';
      return deepEqual(now, old) ? [] : [fieldError.forbidden('spec', problem)];
    }
    const whose = isInit ? 'cpu and memory resources for sidecar containers' : 'cpu and memory resources';
    const path = `spec.${field}[${index}].resources`;
    return [
      ...removedErrors(now, old, path),
      ...(deepEqual(otherResources(now), otherResources(old))
        ? []
        : [fieldError.forbidden('spec', `only ${whose} are mutable`)]),
    ];
  });
}

function removedErrors(now: JsonRecord, old: JsonRecord, path: string): readonly FieldError[] {
  return ['requests', 'limits'].flatMap((kind) => {
    const amounts = record(at(now, 'resources', kind));
    const isRemoved = Object.keys(record(at(old, 'resources', kind))).some((name) => amounts[name] === undefined);
    return isRemoved ? [fieldError.forbidden(`${path}.${kind}`, `resource ${kind} cannot be removed`)] : [];
  });
}

function otherResources({ resources }: JsonRecord) {
  const others = (kind: string) => without(record(at(resources, kind)), 'cpu', 'memory');
  return { limits: others('limits'), requests: others('requests') };
}
