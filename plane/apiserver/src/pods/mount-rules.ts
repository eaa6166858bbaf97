import { type FieldError, fieldError } from '@castellan/machinery';
import { at, type JsonRecord, records, text } from '../json.js';
import { localPathErrors, noBackstepErrors, oneOfOrUnset, requiredText } from './scalar-rules.js';

/** The good volumes of a pod by name. */
export type Volumes = ReadonlyMap<string, JsonRecord>;

const propagations = ['Bidirectional', 'HostToContainer', 'None'];
const recursions = ['Disabled', 'Enabled', 'IfPossible'];

/** The rules of what a container mounts, and of the devices that it is given. */
export function mountErrors(container: JsonRecord, path: string, volumes: Volumes): readonly FieldError[] {
  const mounts = records(container.volumeMounts);
  const devices = records(container.volumeDevices);
  const mountPaths = mounts.map(({ mountPath }) => text(mountPath) ?? '');
  const isPrivileged = at(container, 'securityContext', 'privileged') === true;
  return [
    ...mounts.flatMap((mount, index) => {
      const own = `${path}.volumeMounts[${index}]`;
      const mountPath = mountPaths[index] ?? '';
      const name = text(mount.name) ?? '';
      return [
        ...requiredText(name, `${own}.name`),
        ...(volumes.has(name) ? [] : [fieldError.notFound(`${own}.name`, name)]),
        ...requiredText(mountPath, `${own}.mountPath`),
        ...(mountPaths.indexOf(mountPath) < index
          ? [fieldError.invalid(`${own}.mountPath`, mountPath, 'must be unique')]
          : []),
        ...(devices.some((device) => device.name === name)
          ? [fieldError.invalid(`${own}.name`, name, 'must not already exist in volumeDevices')]
          : []),
        ...(devices.some((device) => device.devicePath === mountPath)
          ? [fieldError.invalid(`${own}.mountPath`, mountPath, 'must not already exist as a path in volumeDevices')]
          : []),
        // Upstream tells these of the list, not of the mount.
        ...subPathErrors(mount, `${path}.volumeMounts`, own),
        ...propagationErrors(mount, `${path}.volumeMounts.mountPropagation`, isPrivileged),
        ...recursionErrors(mount, `${path}.volumeMounts.recursiveReadOnly`),
      ];
    }),
    ...devices.flatMap((device, index) =>
      deviceErrors(device, {
        path: `${path}.volumeDevices[${index}]`,
        volumes,
        mounts,
        earlier: devices.slice(0, index),
      }),
    ),
  ];
}

function subPathErrors({ subPath, subPathExpr }: JsonRecord, lists: string, own: string): readonly FieldError[] {
  const fixed = text(subPath) ?? '';
  const expanded = text(subPathExpr) ?? '';
  return [
    ...(fixed === '' ? [] : localPathErrors(fixed, `${lists}.subPath`)),
    ...(expanded !== '' && fixed !== ''
      ? [fieldError.invalid(`${own}.subPathExpr`, expanded, 'subPathExpr and subPath are mutually exclusive')]
      : []),
    ...(expanded === '' ? [] : localPathErrors(expanded, `${lists}.subPathExpr`)),
  ];
}

function propagationErrors({ mountPropagation }: JsonRecord, path: string, isPrivileged: boolean) {
  return [
    ...oneOfOrUnset(mountPropagation, propagations, path),
    ...(mountPropagation === 'Bidirectional' && !isPrivileged
      ? [fieldError.forbidden(path, 'Bidirectional mount propagation is available only to privileged containers')]
      : []),
  ];
}

function recursionErrors({ recursiveReadOnly, readOnly, mountPropagation }: JsonRecord, path: string) {
  if (recursiveReadOnly !== 'Enabled' && recursiveReadOnly !== 'IfPossible') {
    return oneOfOrUnset(recursiveReadOnly, recursions, path);
  }
  const propagates = mountPropagation !== undefined && mountPropagation !== 'None';
  return [
    ...(readOnly === true ? [] : [fieldError.forbidden(path, 'may only be specified when readOnly is true')]),
    ...(propagates
      ? [fieldError.forbidden(path, 'may only be specified when mountPropagation is None or not specified')]
      : []),
  ];
}

interface DevicePlace {
  readonly path: string;
  readonly volumes: Volumes;
  readonly mounts: readonly JsonRecord[];
  readonly earlier: readonly JsonRecord[];
}

function deviceErrors(device: JsonRecord, { path, volumes, mounts, earlier }: DevicePlace): readonly FieldError[] {
  const name = text(device.name) ?? '';
  const devicePath = text(device.devicePath) ?? '';
  const volume = volumes.get(name);
  const isBlock = volume?.persistentVolumeClaim !== undefined || volume?.ephemeral !== undefined;
  const invalid = (field: string, value: string, problem: string) => [
    fieldError.invalid(`${path}.${field}`, value, problem),
  ];
  return [
    ...requiredText(name, `${path}.name`),
    ...(name !== '' && earlier.some((each) => each.name === name) ? invalid('name', name, 'must be unique') : []),
    ...(volume !== undefined && !isBlock
      ? invalid('name', name, 'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode')
      : []),
    ...(volume === undefined ? [fieldError.notFound(`${path}.name`, name)] : []),
    ...requiredText(devicePath, `${path}.devicePath`),
    ...(earlier.some((each) => each.devicePath === devicePath)
      ? invalid('devicePath', devicePath, 'must be unique')
      : []),
    ...(noBackstepErrors(devicePath, path).length > 0
      ? invalid('devicePath', devicePath, "can not contain backsteps ('..')")
      : []),
    ...(mounts.some((mount) => mount.name === name)
      ? invalid('name', name, 'must not already exist in volumeMounts')
      : []),
    ...(mounts.some((mount) => mount.mountPath === devicePath)
      ? invalid('devicePath', devicePath, 'must not already exist as a path in volumeMounts')
      : []),
  ];
}
