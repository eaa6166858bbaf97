import { type FieldError, fieldError } from '@castellan/machinery';
import { at, type JsonRecord, list, record, records, text } from '../json.js';
import { printed } from './go-print.js';
import { identityErrors, localPathErrors, oneOfOrUnset } from './scalar-rules.js';

const profileTypes = ['Localhost', 'RuntimeDefault', 'Unconfined'];
const longestSysctl = 253;
const sysctlPattern = '([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
const longestProfile = 4095;

/** The rules of the security context that all containers of a pod have in common. */
export function podSecurityErrors(spec: JsonRecord, path: string): readonly FieldError[] {
  if (spec.securityContext === undefined) return [];
  const context = record(spec.securityContext);
  const isShared = spec.shareProcessNamespace === true && spec.hostPID === true;
  return [
    ...identityErrors(context.fsGroup, `${path}.fsGroup`),
    ...identityErrors(context.runAsUser, `${path}.runAsUser`),
    ...identityErrors(context.runAsGroup, `${path}.runAsGroup`),
    ...list(context.supplementalGroups).flatMap((group, index) =>
      identityErrors(group, `${path}.supplementalGroups[${index}]`),
    ),
    ...(isShared
      ? [
          fieldError.invalid(
            `${path}.shareProcessNamespace`,
            true,
            'ShareProcessNamespace and HostPID cannot both be enabled',
          ),
        ]
      : []),
    ...sysctlErrors(spec, records(context.sysctls), `${path}.sysctls`),
    ...oneOfOrUnset(context.fsGroupChangePolicy, ['Always', 'OnRootMismatch'], `${path}.fsGroupChangePolicy`),
    ...seccompErrors(context.seccompProfile, `${path}.seccompProfile`),
    ...appArmorErrors(context.appArmorProfile, `${path}.appArmorProfile`),
    ...oneOfOrUnset(context.supplementalGroupsPolicy, ['Merge', 'Strict'], `${path}.supplementalGroupsPolicy`),
    ...oneOfOrUnset(context.seLinuxChangePolicy, ['MountOption', 'Recursive'], `${path}.seLinuxChangePolicy`),
  ];
}

function sysctlErrors(spec: JsonRecord, sysctls: readonly JsonRecord[], path: string): readonly FieldError[] {
  const names = new Set<string>();
  return sysctls.flatMap(({ name }, index) => {
    const own = text(name) ?? '';
    const place = `${path}[${index}].name`;
    const isGood = own.length <= longestSysctl && new RegExp(`^${sysctlPattern}$`).test(own);
    const form = `must have at most ${longestSysctl} characters and match regex ^${sysctlPattern}$`;
    const problems = [
      ...(own === ''
        ? [fieldError.required(place)]
        : !isGood
          ? [fieldError.invalid(place, own, form)]
          : names.has(own)
            ? [fieldError.duplicate(place, own)]
            : []),
      ...hostSysctlErrors(spec, own, place),
    ];
    names.add(own);
    return problems;
  });
}

/** Settings of a namespace that the pod shares with its node are the node's. */
function hostSysctlErrors(spec: JsonRecord, name: string, path: string): readonly FieldError[] {
  const dotted = name.replaceAll('/', '.');
  if (spec.hostNetwork === true && dotted.startsWith('net.')) {
    return [fieldError.invalid(path, name, "may not be specified when 'hostNetwork' is true")];
  }
  const isIpc = /^kernel\.(?:shm|msg|sem$)|^fs\.mqueue\./.test(dotted);
  if (spec.hostIPC === true && isIpc) {
    return [fieldError.invalid(path, name, "may not be specified when 'hostIPC' is true")];
  }
  return [];
}

/** The rules of the security context of one container. */
export function containerSecurityErrors(value: unknown, path: string, hasOwnUsers: boolean): readonly FieldError[] {
  if (value === undefined) return [];
  const context = record(value);
  const { procMount } = context;
  const mayNotEscalate = context.allowPrivilegeEscalation === false;
  const isAdmin = list(at(context, 'capabilities', 'add')).includes('CAP_SYS_ADMIN');
  const escalates = (what: string) =>
    fieldError.invalid(
      path,
      printed('SecurityContext', context),
      `cannot set \`allowPrivilegeEscalation\` to false and ${what}`,
    );
  return [
    ...identityErrors(context.runAsUser, `${path}.runAsUser`),
    ...identityErrors(context.runAsGroup, `${path}.runAsGroup`),
    ...oneOfOrUnset(procMount, ['Default', 'Unmasked'], `${path}.procMount`),
    ...(procMount === 'Unmasked' && !hasOwnUsers
      ? [fieldError.invalid(`${path}.procMount`, procMount, '`hostUsers` must be false to use `Unmasked`')]
      : []),
    ...seccompErrors(context.seccompProfile, `${path}.seccompProfile`),
    ...(mayNotEscalate && context.privileged === true ? [escalates('`privileged` to true')] : []),
    ...(mayNotEscalate && isAdmin ? [escalates('`capabilities.Add` CAP_SYS_ADMIN')] : []),
    ...appArmorErrors(context.appArmorProfile, `${path}.appArmorProfile`),
  ];
}

function seccompErrors(value: unknown, path: string): readonly FieldError[] {
  if (value === undefined) return [];
  const { type, localhostProfile } = record(value);
  const kind = text(type) ?? '';
  const own = `${path}.localhostProfile`;
  return [
    ...(kind === '' ? [fieldError.required(`${path}.type`, 'type is required when seccompProfile is set')] : []),
    ...(kind === '' || profileTypes.includes(kind)
      ? []
      : [fieldError.notSupported(`${path}.type`, kind, profileTypes)]),
    ...(kind === 'Localhost'
      ? localhostProfile === undefined
        ? [fieldError.required(own, 'must be set when seccomp type is Localhost')]
        : localPathErrors(localhostProfile, own)
      : []),
    ...(kind !== 'Localhost' && localhostProfile !== undefined
      ? [
          fieldError.invalid(
            own,
            printed('SeccompProfile', record(value)),
            'can only be set when seccomp type is Localhost',
          ),
        ]
      : []),
  ];
}

/** The rules of an AppArmor profile; none where there is none. */
export function appArmorErrors(value: unknown, path: string): readonly FieldError[] {
  if (value === undefined) return [];
  const { type, localhostProfile } = record(value);
  const kind = text(type) ?? '';
  const own = `${path}.localhostProfile`;
  if (kind === 'Localhost') return profileNameErrors(text(localhostProfile) ?? '', own);
  if (kind === '') return [fieldError.required(`${path}.type`, 'type is required when appArmorProfile is set')];
  if (!profileTypes.includes(kind)) return [fieldError.notSupported(`${path}.type`, kind, profileTypes)];
  if (localhostProfile === undefined) return [];
  return [fieldError.invalid(own, localhostProfile, 'can only be set when AppArmor type is Localhost')];
}

function profileNameErrors(name: string, path: string): readonly FieldError[] {
  return [
    ...(name.trim() !== name
      ? [fieldError.invalid(path, name, 'must not be padded with whitespace')]
      : name === ''
        ? [fieldError.required(path, 'must be set when AppArmor type is Localhost')]
        : []),
    ...(name.length > longestProfile ? [fieldError.tooLong(path, longestProfile)] : []),
  ];
}
