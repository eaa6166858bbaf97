import { deepEqual, dns1123LabelErrors, type FieldError, fieldError } from '@castellan/machinery';
import { type ApiObject, type JsonRecord, list, record, records, text, without } from '../json.js';

const restartPolicies = ['Always', 'OnFailure', 'Never'];
const dnsPolicies = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'];
const protocols = ['TCP', 'UDP', 'SCTP'];
const maxPort = 65_535;

/** The rules of a pod that this plane depends on, in kube-apiserver's words. */
export function validatePod(pod: ApiObject): readonly FieldError[] {
  const spec = record(pod.spec);
  const volumes = records(spec.volumes).map((volume) => text(volume.name) ?? '');
  const containers = records(spec.containers);
  const restartPolicy = text(spec.restartPolicy) ?? '';
  const dnsPolicy = text(spec.dnsPolicy) ?? '';
  return [
    ...nameErrors(volumes, 'spec.volumes'),
    ...(containers.length === 0 ? [fieldError.required('spec.containers')] : []),
    ...containerErrors(containers, 'spec.containers', volumes),
    ...containerErrors(records(spec.initContainers), 'spec.initContainers', volumes),
    ...(restartPolicies.includes(restartPolicy)
      ? []
      : [fieldError.notSupported('spec.restartPolicy', restartPolicy, restartPolicies)]),
    ...(dnsPolicies.includes(dnsPolicy) ? [] : [fieldError.notSupported('spec.dnsPolicy', dnsPolicy, dnsPolicies)]),
  ];
}

function containerErrors(
  containers: readonly JsonRecord[],
  field: string,
  volumes: readonly string[],
): readonly FieldError[] {
  const names = containers.map((container) => text(container.name) ?? '');
  return [
    ...nameErrors(names, field),
    ...containers.flatMap((container, index) => {
      const path = `${field}[${index}]`;
      const image = text(container.image) ?? '';
      return [
        ...(image === '' ? [fieldError.required(`${path}.image`)] : []),
        ...portErrors(records(container.ports), `${path}.ports`),
        ...environmentErrors(records(container.env), `${path}.env`),
        ...mountErrors(records(container.volumeMounts), `${path}.volumeMounts`, volumes),
      ];
    }),
  ];
}

/** Names in a list: there, DNS labels, each once. */
function nameErrors(names: readonly string[], field: string): readonly FieldError[] {
  return names.flatMap((name, index) => {
    const path = `${field}[${index}].name`;
    if (name === '') return [fieldError.required(path)];
    if (names.indexOf(name) < index) return [fieldError.duplicate(path, name)];
    return dns1123LabelErrors(name).map((problem) => fieldError.invalid(path, name, problem));
  });
}

function portErrors(ports: readonly JsonRecord[], field: string): readonly FieldError[] {
  return ports.flatMap(({ containerPort, protocol }, index) => {
    const path = `${field}[${index}]`;
    const isPort = typeof containerPort === 'number' && containerPort >= 1 && containerPort <= maxPort;
    const protocolText = text(protocol) ?? '';
    return [
      ...(containerPort === undefined || containerPort === 0 ? [fieldError.required(`${path}.containerPort`)] : []),
      ...(isPort || containerPort === undefined || containerPort === 0
        ? []
        : [fieldError.invalid(`${path}.containerPort`, containerPort, `must be between 1 and ${maxPort}, inclusive`)]),
      ...(protocols.includes(protocolText)
        ? []
        : [fieldError.notSupported(`${path}.protocol`, protocolText, [...protocols].sort())]),
    ];
  });
}

function environmentErrors(variables: readonly JsonRecord[], field: string): readonly FieldError[] {
  return variables.flatMap(({ name, value, valueFrom }, index) => [
    ...((text(name) ?? '') === '' ? [fieldError.required(`${field}[${index}].name`)] : []),
    ...(valueFrom !== undefined && (text(value) ?? '') !== ''
      ? [fieldError.invalid(`${field}[${index}].valueFrom`, '', 'may not be specified when `value` is not empty')]
      : []),
  ]);
}

function mountErrors(mounts: readonly JsonRecord[], field: string, volumes: readonly string[]): readonly FieldError[] {
  const paths = mounts.map(({ mountPath }) => text(mountPath) ?? '');
  return mounts.flatMap((mount, index) => {
    const path = `${field}[${index}]`;
    const name = text(mount.name) ?? '';
    const mountPath = paths[index] ?? '';
    return [
      ...(name === '' ? [fieldError.required(`${path}.name`)] : []),
      ...(name === '' || volumes.includes(name) ? [] : [fieldError.notFound(`${path}.name`, name)]),
      ...(mountPath === '' ? [fieldError.required(`${path}.mountPath`)] : []),
      ...(mountPath !== '' && paths.indexOf(mountPath) < index
        ? [fieldError.invalid(`${path}.mountPath`, mountPath, 'must be unique')]
        : []),
    ];
  });
}

const mutableFields =
  'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';

/** What a pod runs is decided once; images and a few limits may change. */
export function validatePodUpdate(pod: ApiObject, current: ApiObject): readonly FieldError[] {
  if (deepEqual(fixedSpec(pod), fixedSpec(current)) && keepsTolerations(pod, current)) return [];
  return [fieldError.forbidden('spec', mutableFields)];
}

function fixedSpec(pod: ApiObject): JsonRecord {
  const spec = record(pod.spec);
  const imageless = (containers: unknown) => records(containers).map((container) => without(container, 'image'));
  return {
    ...without(spec, 'activeDeadlineSeconds', 'tolerations', 'schedulingGates'),
    containers: imageless(spec.containers),
    initContainers: imageless(spec.initContainers),
  };
}

function keepsTolerations(pod: ApiObject, current: ApiObject): boolean {
  const tolerations = list(record(pod.spec).tolerations);
  return list(record(current.spec).tolerations).every((kept) => tolerations.some((next) => deepEqual(next, kept)));
}
