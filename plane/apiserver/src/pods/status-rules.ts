import {
  dns1123SubdomainErrors,
  type FieldError,
  fieldError,
  isIpAddress,
  isIpv4,
  qualifiedNameErrors,
} from '@castellan/machinery';
import { type ApiObject, at, type JsonRecord, record, records, text, without } from '../json.js';
import { badIpAddress } from './scalar-rules.js';

/** The pod as a write of its status may leave it: spec, owners and quality of service stay. */
export function preparePodStatus(pod: ApiObject, current: ApiObject): ApiObject {
  const { ownerReferences } = current.metadata;
  const metadata = without({ ...pod.metadata }, 'ownerReferences');
  const { qosClass } = record(current.status);
  const status = without(record(pod.status), 'qosClass');
  return {
    ...pod,
    metadata: ownerReferences === undefined ? metadata : { ...metadata, ownerReferences },
    status: qosClass === undefined ? status : { ...status, qosClass },
  };
}

const systemConditions: ReadonlySet<string> = new Set(['PodScheduled', 'Ready', 'Initialized']);

/** The rules of a write of a pod's status. */
export function podStatusErrors(pod: ApiObject, current: ApiObject): readonly FieldError[] {
  const status = record(pod.status);
  const before = record(current.status);
  const restarts = text(at(current, 'spec', 'restartPolicy')) ?? '';
  const nominated = text(status.nominatedNodeName) ?? '';
  return [
    ...records(status.conditions).flatMap(({ type }, index) => {
      const name = text(type) ?? '';
      if (systemConditions.has(name)) return [];
      // Upstream takes the path from the metadata that it looked at before.
      const path = `metadata.conditions[${index}].Type`;
      return qualifiedNameErrors(name).map((problem) => fieldError.invalid(path, name, problem));
    }),
    ...(nominated === '' || nominated === before.nominatedNodeName
      ? []
      : dns1123SubdomainErrors(nominated).map((problem) =>
          fieldError.invalid('status.nominatedNodeName', nominated, problem),
        )),
    ...transitionErrors(status, before, { field: 'containerStatuses', restarts }),
    ...transitionErrors(status, before, {
      field: 'initContainerStatuses',
      restarts,
      exempt: records(at(current, 'spec', 'initContainers'))
        .filter(({ restartPolicy }) => restartPolicy === 'Always')
        .map(({ name }) => name),
    }),
    ...transitionErrors(status, before, { field: 'ephemeralContainerStatuses', restarts: 'Never' }),
    ...podIpErrors(status),
    ...hostIpErrors(status),
  ];
}

interface Transition {
  readonly field: string;
  readonly restarts: string;
  /** Containers that may start again whatever the pod's restart policy. */
  readonly exempt?: readonly unknown[];
}

/** A container that has ended for good does not run again. */
function transitionErrors(
  status: JsonRecord,
  before: JsonRecord,
  { field, restarts, exempt = [] }: Transition,
): readonly FieldError[] {
  if (restarts === 'Always') return [];
  const next = records(status[field]);
  return records(before[field]).flatMap(({ name, state }, index) => {
    const terminated = at(state, 'terminated');
    if (terminated === undefined || exempt.includes(name)) return [];
    if (restarts === 'OnFailure' && (at(terminated, 'exitCode') ?? 0) !== 0) return [];
    const revived = next.filter((each) => each.name === name && at(each, 'state', 'terminated') === undefined);
    const path = `status.${field}[${index}].state`;
    return revived.map(() => fieldError.forbidden(path, 'may not be transitioned to non-terminated state'));
  });
}

function podIpErrors(status: JsonRecord): readonly FieldError[] {
  const addresses = records(status.podIPs);
  const texts = addresses.map(({ ip }) => text(ip) ?? '');
  return [
    ...texts.flatMap((ip, index) => badIpAddress(ip, `status.podIPs[${index}]`)),
    ...familyErrors(texts, addresses, 'status.podIPs'),
    ...duplicateErrors(texts, addresses, 'status.podIPs'),
  ];
}

function hostIpErrors(status: JsonRecord): readonly FieldError[] {
  const addresses = records(status.hostIPs);
  const texts = addresses.map(({ ip }) => text(ip) ?? '');
  const [first] = texts;
  if (first === undefined) return [];
  return [
    ...(first === (status.hostIP ?? '')
      ? []
      : [fieldError.invalid('status.hostIPs[0].ip', first, 'must be equal to `hostIP`')]),
    ...texts.flatMap((ip, index) => badIpAddress(ip, `status.hostIPs[${index}]`)),
    ...duplicateErrors(texts, addresses, 'status.hostIPs'),
    ...familyErrors(texts, addresses, 'status.hostIPs'),
  ];
}

function familyErrors(texts: readonly string[], shown: readonly JsonRecord[], path: string): readonly FieldError[] {
  if (texts.length < 2 || !texts.every(isIpAddress)) return [];
  const families = new Set(texts.map(isIpv4));
  if (families.size === 2 && texts.length === 2) return [];
  return [fieldError.invalid(path, shown.map(goAddress), 'may specify no more than one IP for each IP family')];
}

function duplicateErrors(texts: readonly string[], shown: readonly JsonRecord[], path: string): readonly FieldError[] {
  return shown.flatMap((address, index) =>
    texts.indexOf(texts[index] ?? '') < index ? [fieldError.duplicate(`${path}[${index}]`, goAddress(address))] : [],
  );
}

/** An address by the name that its field has in Go. */
function goAddress({ ip }: JsonRecord): JsonRecord {
  return { IP: ip };
}
