import { type FieldError, fieldError } from '@castellan/machinery';
import { at, type JsonRecord, list, record, records, text } from '../json.js';

const systems = ['linux', 'windows'];

const podFields = [
  { path: ['securityContext', 'appArmorProfile'] },
  { path: ['securityContext', 'seLinuxOptions'] },
  { path: ['hostUsers'] },
  { path: ['hostPID'], isFlag: true },
  { path: ['hostIPC'], isFlag: true },
  { path: ['securityContext', 'seccompProfile'] },
  { path: ['securityContext', 'fsGroup'] },
  { path: ['securityContext', 'fsGroupChangePolicy'] },
  { path: ['securityContext', 'sysctls'] },
  { path: ['shareProcessNamespace'] },
  { path: ['securityContext', 'runAsUser'] },
  { path: ['securityContext', 'runAsGroup'] },
  { path: ['securityContext', 'supplementalGroups'] },
  { path: ['securityContext', 'supplementalGroupsPolicy'] },
  { path: ['securityContext', 'seLinuxChangePolicy'] },
] as const satisfies readonly { readonly path: readonly string[]; readonly isFlag?: boolean }[];

const containerFields = [
  'appArmorProfile',
  'seLinuxOptions',
  'seccompProfile',
  'capabilities',
  'readOnlyRootFilesystem',
  'privileged',
  'allowPrivilegeEscalation',
  'procMount',
  'runAsUser',
  'runAsGroup',
];

/** The rules of a pod that says for which operating system it is made. */
export function operatingSystemErrors(spec: JsonRecord, path: string): readonly FieldError[] {
  if (spec.os === undefined) return [];
  const name = text(at(spec, 'os', 'name')) ?? '';
  if (name === '') return [fieldError.required(`${path}.os.name`, 'cannot be empty')];
  if (!systems.includes(name)) return [fieldError.notSupported(`${path}.os`, name, systems)];
  return name === 'linux' ? linuxErrors(spec, path) : windowsErrors(spec, path);
}

function linuxErrors(spec: JsonRecord, path: string): readonly FieldError[] {
  const problem = 'windows options cannot be set for a linux pod';
  return [{ context: spec.securityContext, path: `${path}.securityContext` }, ...contextsOf(spec, path)]
    .filter(({ context }) => record(context).windowsOptions !== undefined)
    .map((place) => fieldError.forbidden(`${place.path}.windowsOptions`, problem));
}

function windowsErrors(spec: JsonRecord, path: string): readonly FieldError[] {
  const problem = 'cannot be set for a windows pod';
  return [
    ...podFields
      .filter((field) => isSet(at(spec, ...field.path), 'isFlag' in field))
      .map((field) => fieldError.forbidden(`${path}.${field.path.join('.')}`, problem)),
    ...contextsOf(spec, path).flatMap(({ context, path: own }) =>
      containerFields
        .filter((field) => record(context)[field] !== undefined)
        .map((field) => fieldError.forbidden(`${own}.${field}`, problem)),
    ),
  ];
}

function isSet(value: unknown, isFlag: boolean): boolean {
  return isFlag ? value === true : value !== undefined && !(Array.isArray(value) && list(value).length === 0);
}

/** The security contexts of all containers, those first that run first. */
function contextsOf(spec: JsonRecord, path: string) {
  return ['initContainers', 'containers', 'ephemeralContainers'].flatMap((field) =>
    records(spec[field]).map(({ securityContext }, index) => ({
      context: securityContext,
      path: `${path}.${field}[${index}].securityContext`,
    })),
  );
}
