import { type FieldError, fieldError } from '@castellan/machinery';
import { count, type JsonRecord, record, records, text } from '../json.js';
import { environmentErrors } from './environment-rules.js';
import { handlerErrors } from './handler-rules.js';
import { mountErrors, type Volumes } from './mount-rules.js';
import { hostPortConflicts, portErrors } from './port-rules.js';
import { resourceErrors } from './resource-rules.js';
import { labelNameErrors, oneOf, requiredText } from './scalar-rules.js';
import { containerSecurityErrors } from './security-rules.js';

const messagePolicies = ['File', 'FallbackToLogsOnError'];
const pullPolicies = ['Always', 'IfNotPresent', 'Never'];
const resizePolicies = ['NotRequired', 'RestartContainer'];
const containerRestarts = ['Always', 'OnFailure', 'Never'];

/** What containers have to fit into. */
export interface ContainerPlace {
  readonly spec: JsonRecord;
  readonly volumes: Volumes;
  /** A pod, and not the template of one. */
  readonly isPod: boolean;
}

/** The rules of the containers that a pod runs. */
export function containerErrors(path: string, place: ContainerPlace): readonly FieldError[] {
  const containers = records(place.spec.containers);
  if (containers.length === 0) return [fieldError.required(path)];
  const names = new Set<string>();
  const placed = containers.map((container, index) => ({ container, path: `${path}[${index}]` }));
  return [
    ...placed.flatMap(({ container, path: own }) => [
      ...commonErrors(container, own, place),
      ...uniqueName(container, own, names),
      ...handlerErrors(container, own, graceOf(place)),
      ...restartErrors(container, own),
    ]),
    ...hostPortConflicts(placed),
  ];
}

/** The rules of the containers that run one after the other before those, or beside them when they restart always. */
export function initContainerErrors(path: string, place: ContainerPlace): readonly FieldError[] {
  const names = new Set(records(place.spec.containers).map(({ name }) => text(name) ?? ''));
  return records(place.spec.initContainers).flatMap((container, index) => {
    const own = `${path}[${index}]`;
    return [
      ...commonErrors(container, own, place),
      ...restartErrors(container, own),
      ...uniqueName(container, own, names),
      ...hostPortConflicts([{ container, path: `${path}[0]` }]),
      ...(container.restartPolicy === 'Always'
        ? handlerErrors(container, own, graceOf(place))
        : ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe']
            .filter((field) => container[field] !== undefined)
            .map((field) =>
              fieldError.forbidden(
                `${own}.${field}`,
                'may not be set for init containers without restartPolicy=Always',
              ),
            )),
    ];
  });
}

function graceOf({ spec }: ContainerPlace): number {
  return count(spec.terminationGracePeriodSeconds) ?? 0;
}

/** How a container restarts when it does not follow its pod. */
function restartErrors(container: JsonRecord, path: string): readonly FieldError[] {
  if (container.restartPolicy === undefined) {
    return container.restartPolicyRules === undefined
      ? []
      : [fieldError.required(`${path}.restartPolicy`, 'must specify restartPolicy when restart rules are used')];
  }
  return oneOf(container.restartPolicy, containerRestarts, `${path}.restartPolicy`);
}

function uniqueName(container: JsonRecord, path: string, names: Set<string>): readonly FieldError[] {
  const name = text(container.name) ?? '';
  if (names.has(name)) return [fieldError.duplicate(`${path}.name`, name)];
  if (name !== '') names.add(name);
  return [];
}

function commonErrors(container: JsonRecord, path: string, place: ContainerPlace): readonly FieldError[] {
  const name = text(container.name) ?? '';
  const claims = records(place.spec.resourceClaims).map((claim) => text(claim.name) ?? '');
  return [
    ...(name === '' ? [fieldError.required(`${path}.name`)] : labelNameErrors(name, `${path}.name`)),
    ...requiredText(container.image, `${path}.image`),
    ...oneOf(container.terminationMessagePolicy, messagePolicies, `${path}.terminationMessagePolicy`),
    ...portErrors(container, path),
    ...environmentErrors(container, path),
    ...mountErrors(container, path, place.volumes),
    ...oneOf(container.imagePullPolicy, pullPolicies, `${path}.imagePullPolicy`),
    ...resourceErrors(record(container.resources), `${path}.resources`, claims),
    ...resizeErrors(container, `${path}.resizePolicy`, place),
    ...containerSecurityErrors(container.securityContext, `${path}.securityContext`, place.spec.hostUsers === false),
  ];
}

/** What happens to a container whose resources change; upstream tells all of it of the list. */
function resizeErrors(container: JsonRecord, path: string, { spec }: ContainerPlace): readonly FieldError[] {
  const policies = records(container.resizePolicy);
  const names = policies.map(({ resourceName }) => text(resourceName) ?? '');
  return policies.flatMap(({ restartPolicy }, index) => {
    const name = names[index] ?? '';
    const mustNotRestart = spec.restartPolicy === 'Never' && restartPolicy !== 'NotRequired';
    return [
      ...(names.indexOf(name) < index ? [fieldError.duplicate(`${path}[${index}]`, name)] : []),
      ...oneOf(name, ['cpu', 'memory'], path),
      ...oneOf(restartPolicy, resizePolicies, path),
      ...(mustNotRestart
        ? [fieldError.invalid(path, restartPolicy ?? '', "must be 'NotRequired' when `restartPolicy` is 'Never'")]
        : []),
    ];
  });
}

/** An image's name as it will be pulled: templates may hold more. */
export function imageSpaceErrors(containers: unknown, path: string): readonly FieldError[] {
  return records(containers).flatMap((container, index) => imageSpace(container, `${path}[${index}]`));
}

function imageSpace(container: JsonRecord, path: string): readonly FieldError[] {
  const image = text(container.image) ?? '';
  const problem = 'must not have leading or trailing whitespace';
  return image === image.trim() ? [] : [fieldError.invalid(`${path}.image`, image, problem)];
}

/** Fields that a container has which is put into a running pod, by their order in Go. */
const forbiddenInEphemeral = [
  'ports',
  'resources',
  'resizePolicy',
  'restartPolicy',
  'restartPolicyRules',
  'livenessProbe',
  'readinessProbe',
  'startupProbe',
  'lifecycle',
];

/** The rules of the containers that are put into a running pod to look at it. */
export function ephemeralContainerErrors(path: string, place: ContainerPlace): readonly FieldError[] {
  const { containers, initContainers, ephemeralContainers } = place.spec;
  const others = new Set([...records(containers), ...records(initContainers)].map(({ name }) => text(name) ?? ''));
  const names = new Set(others);
  return records(ephemeralContainers).flatMap((container, index) => {
    const own = `${path}[${index}]`;
    const target = text(container.targetContainerName) ?? '';
    const forbidden = (field: string) =>
      fieldError.forbidden(`${own}.${field}`, 'cannot be set for an Ephemeral Container');
    return [
      ...commonErrors(container, own, place),
      ...imageSpace(container, own),
      ...uniqueName(container, own, names),
      ...(target === '' || others.has(target) ? [] : [fieldError.notFound(`${own}.targetContainerName`, target)]),
      ...forbiddenInEphemeral.filter((field) => isSet(container[field])).map(forbidden),
      ...records(container.volumeMounts).flatMap((mount, position) =>
        ['subPath', 'subPathExpr']
          .filter((field) => (text(mount[field]) ?? '') !== '')
          .map((field) => forbidden(`volumeMounts[${position}].${field}`)),
      ),
    ];
  });
}

/** Resources are a structure of their own in Go: an empty one is none. */
function isSet(value: unknown): boolean {
  return (
    (value !== undefined && Object.keys(record(value)).length + records(value).length > 0) || typeof value === 'string'
  );
}
