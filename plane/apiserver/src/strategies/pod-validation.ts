import { deepEqual, dns1123LabelErrors, type FieldError, fieldError, qualifiedNameErrors } from '@castellan/machinery';
import { type ApiObject, type JsonRecord, list, record, records, text, without } from '../json.js';
import { portNameProblems } from './port-names.js';
import { handlerErrors } from './probe-validation.js';
import { resourceErrors } from './resource-validation.js';
import { schedulingErrors } from './scheduling-validation.js';

const restartPolicies = ['Always', 'OnFailure', 'Never'];
const dnsPolicies = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'];
const protocols = ['TCP', 'UDP', 'SCTP'];
const pullPolicies = ['Always', 'IfNotPresent', 'Never'];
const messagePolicies = ['File', 'FallbackToLogsOnError'];
const maxPort = 65_535;
const maxInt32 = 2_147_483_647;

/** The rules of a pod that this plane depends on, in kube-apiserver's words. */
export function validatePod(pod: ApiObject, current?: ApiObject): readonly FieldError[] {
  const spec = record(pod.spec);
  const volumes = records(spec.volumes).map((volume) => text(volume.name) ?? '');
  const containers = records(spec.containers);
  const restartPolicy = text(spec.restartPolicy) ?? '';
  const dnsPolicy = text(spec.dnsPolicy) ?? '';
  return [
    ...nameErrors(volumes, 'spec.volumes'),
    ...(containers.length === 0 ? [fieldError.required('spec.containers')] : []),
    ...containerErrors(containers, 'spec.containers', { spec, volumes, taken: [] }),
    ...containerErrors(records(spec.initContainers), 'spec.initContainers', {
      spec,
      volumes,
      taken: containers.map(({ name }) => text(name) ?? ''),
    }),
    ...(current === undefined && list(spec.ephemeralContainers).length > 0
      ? [fieldError.forbidden('spec.ephemeralContainers', 'cannot be set on create')]
      : []),
    ...(restartPolicies.includes(restartPolicy)
      ? []
      : [fieldError.notSupported('spec.restartPolicy', restartPolicy, restartPolicies)]),
    ...(dnsPolicies.includes(dnsPolicy) ? [] : [fieldError.notSupported('spec.dnsPolicy', dnsPolicy, dnsPolicies)]),
    ...schedulingErrors(spec),
    ...(isPositive(spec.activeDeadlineSeconds)
      ? []
      : [
          fieldError.invalid(
            'spec.activeDeadlineSeconds',
            spec.activeDeadlineSeconds,
            `must be between 1 and ${maxInt32}, inclusive`,
          ),
        ]),
    ...['hostname', 'subdomain'].flatMap((field) => {
      const name = text(spec[field]) ?? '';
      if (name === '') return [];
      return dns1123LabelErrors(name).map((problem) => fieldError.invalid(`spec.${field}`, name, problem));
    }),
    ...records(spec.readinessGates).flatMap(({ conditionType }, index) => {
      const type = text(conditionType) ?? '';
      const path = `spec.readinessGates[${index}].conditionType`;
      return qualifiedNameErrors(type).map((problem) => fieldError.invalid(path, type, problem));
    }),
  ];
}

function isPositive(seconds: unknown): boolean {
  return seconds === undefined || (typeof seconds === 'number' && seconds >= 1 && seconds <= maxInt32);
}

interface ContainerPlace {
  readonly spec: JsonRecord;
  readonly volumes: readonly string[];
  /** Names that other containers of the pod have. */
  readonly taken: readonly string[];
}

function containerErrors(
  containers: readonly JsonRecord[],
  field: string,
  { spec, volumes, taken }: ContainerPlace,
): readonly FieldError[] {
  const names = containers.map((container) => text(container.name) ?? '');
  const graceSeconds = Number(spec.terminationGracePeriodSeconds ?? 0);
  return [
    ...nameErrors(names, field),
    ...names.flatMap((name, index) =>
      taken.includes(name) ? [fieldError.duplicate(`${field}[${index}].name`, name)] : [],
    ),
    ...containers.flatMap((container, index) => {
      const path = `${field}[${index}]`;
      return [
        ...imageErrors(text(container.image) ?? '', `${path}.image`),
        ...handlerErrors(container, path, graceSeconds),
        ...oneOf(container.terminationMessagePolicy, messagePolicies, `${path}.terminationMessagePolicy`),
        ...portErrors(records(container.ports), `${path}.ports`, spec.hostNetwork === true),
        ...environmentErrors(records(container.env), `${path}.env`),
        ...environmentSourceErrors(records(container.envFrom), `${path}.envFrom`),
        ...mountErrors(records(container.volumeMounts), `${path}.volumeMounts`, volumes),
        ...oneOf(container.imagePullPolicy, pullPolicies, `${path}.imagePullPolicy`),
        ...resourceErrors(record(container.resources), `${path}.resources`),
      ];
    }),
  ];
}

function imageErrors(image: string, path: string): readonly FieldError[] {
  if (image === '') return [fieldError.required(path)];
  return image === image.trim()
    ? []
    : [fieldError.invalid(path, image, 'must not have leading or trailing whitespace')];
}

function oneOf(value: unknown, supported: readonly string[], path: string): readonly FieldError[] {
  return supported.includes(String(value)) ? [] : [fieldError.notSupported(path, value ?? '', supported)];
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

function portErrors(ports: readonly JsonRecord[], field: string, isHostNetwork: boolean): readonly FieldError[] {
  const names = ports.map(({ name }) => text(name) ?? '');
  const hostPorts = ports.map(({ hostPort, hostIP, protocol }) =>
    hostPort === undefined ? '' : `${text(protocol) ?? ''}/${text(hostIP) ?? ''}/${String(hostPort)}`,
  );
  return ports.flatMap(({ containerPort, hostPort, protocol }, index) => {
    const path = `${field}[${index}]`;
    const name = names[index] ?? '';
    const onHost = hostPorts[index] ?? '';
    const isPort = typeof containerPort === 'number' && containerPort >= 1 && containerPort <= maxPort;
    const isMissing = containerPort === undefined || containerPort === 0;
    return [
      ...(name === ''
        ? []
        : portNameProblems(name).map((problem) => fieldError.invalid(`${path}.name`, name, problem))),
      ...(name !== '' && names.indexOf(name) < index ? [fieldError.duplicate(`${path}.name`, name)] : []),
      ...(isMissing ? [fieldError.required(`${path}.containerPort`)] : []),
      ...(isPort || isMissing
        ? []
        : [fieldError.invalid(`${path}.containerPort`, containerPort, `must be between 1 and ${maxPort}, inclusive`)]),
      ...(onHost !== '' && hostPorts.indexOf(onHost) < index ? [fieldError.duplicate(`${path}.hostPort`, onHost)] : []),
      ...(isHostNetwork && hostPort !== undefined && hostPort !== containerPort
        ? [fieldError.invalid(`${path}.hostPort`, hostPort, 'must match `containerPort` when `hostNetwork` is true')]
        : []),
      ...oneOf(protocol, [...protocols].sort(), `${path}.protocol`),
    ];
  });
}

const sourceText =
  'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`';
const variableText = "a valid environment variable name must consist only of printable ASCII characters other than '='";

function environmentErrors(variables: readonly JsonRecord[], field: string): readonly FieldError[] {
  return variables.flatMap(({ name, value, valueFrom }, index) => {
    const path = `${field}[${index}]`;
    const own = text(name) ?? '';
    return [
      ...(own === '' ? [fieldError.required(`${path}.name`)] : []),
      ...(own === '' || /^[ -<>-~]+$/.test(own) ? [] : [fieldError.invalid(`${path}.name`, own, variableText)]),
      ...(valueFrom === undefined ? [] : valueSourceErrors(record(valueFrom), text(value) ?? '', `${path}.valueFrom`)),
    ];
  });
}

function valueSourceErrors(source: JsonRecord, value: string, path: string): readonly FieldError[] {
  if (value !== '') return [fieldError.invalid(path, '', 'may not be specified when `value` is not empty')];
  const [kind] = Object.keys(source);
  if (kind === undefined) return [fieldError.invalid(path, '', sourceText)];
  const { key, fieldPath } = record(source[kind]);
  if (kind === 'configMapKeyRef' || kind === 'secretKeyRef') {
    return (text(key) ?? '') === '' ? [fieldError.required(`${path}.${kind}.key`)] : [];
  }
  if (kind !== 'fieldRef') return [];
  const label = text(fieldPath) ?? '';
  if (label === '') return [fieldError.required(`${path}.fieldRef.fieldPath`)];
  if (podFields.has(label) || /^metadata\.(labels|annotations)\['.+'\]$/.test(label)) return [];
  const problem = `error converting fieldPath: field label not supported: ${label}`;
  return [fieldError.invalid(`${path}.fieldRef.fieldPath`, label, problem)];
}

/** What a variable can say of its own pod. */
const podFields = new Set([
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
]);

function environmentSourceErrors(sources: readonly JsonRecord[], field: string): readonly FieldError[] {
  return sources.flatMap((source) =>
    source.configMapRef === undefined && source.secretRef === undefined
      ? [fieldError.invalid(field, '', 'must specify one of: `configMapRef` or `secretRef`')]
      : [],
  );
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
