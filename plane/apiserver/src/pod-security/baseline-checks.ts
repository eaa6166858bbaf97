import { at, type JsonRecord, list, record, records, text } from '../json.js';
import {
  containersOf,
  hasOwnUsers,
  named,
  namesWhere,
  type PodCheck,
  type PodShape,
  plural,
  quoted,
  security,
  setters,
  sortedSet,
  type Violation,
} from './pod-check.js';

/** Baseline: what keeps a pod from taking over its node. */
export const baselineChecks: readonly PodCheck[] = [
  { id: 'appArmorProfile', level: 'baseline', versions: [{ since: 0, find: appArmorProfile }] },
  { id: 'capabilities_baseline', level: 'baseline', versions: [{ since: 0, find: capabilities }] },
  { id: 'hostNamespaces', level: 'baseline', versions: [{ since: 0, find: hostNamespaces }] },
  { id: 'hostPathVolumes', level: 'baseline', versions: [{ since: 0, find: hostPathVolumes }] },
  { id: 'hostPorts', level: 'baseline', versions: [{ since: 0, find: hostPorts }] },
  { id: 'hostProbesAndHostLifecycle', level: 'baseline', versions: [{ since: 34, find: hostsOfProbes }] },
  { id: 'privileged', level: 'baseline', versions: [{ since: 0, find: privileged }] },
  {
    id: 'procMount',
    level: 'baseline',
    versions: [
      { since: 35, find: (pod) => (hasOwnUsers(pod) ? undefined : procMount(pod)) },
      { since: 0, find: procMount },
    ],
  },
  {
    id: 'seLinuxOptions',
    level: 'baseline',
    versions: [
      { since: 31, find: (pod) => seLinuxOptions(pod, [...seLinuxTypes, 'container_engine_t']) },
      { since: 0, find: (pod) => seLinuxOptions(pod, seLinuxTypes) },
    ],
  },
  {
    id: 'seccompProfile_baseline',
    level: 'baseline',
    versions: [
      { since: 19, find: seccompProfile },
      { since: 0, find: seccompAnnotations },
    ],
  },
  { id: 'sysctls', level: 'baseline', versions: sysctlVersions() },
  { id: 'windowsHostProcess', level: 'baseline', versions: [{ since: 0, find: windowsHostProcess }] },
];

const appArmorPrefix = 'container.apparmor.security.beta.kubernetes.io/';

function appArmorProfile(pod: PodShape): Violation | undefined {
  const badTypes: string[] = [];
  const isBad = (owner: JsonRecord) => {
    const type = text(security(owner, 'appArmorProfile', 'type'));
    if (type === undefined || type === 'RuntimeDefault' || type === 'Localhost') return false;
    badTypes.push(type);
    return true;
  };
  const who = setters(isBad(pod.spec), namesWhere(pod, isBad));
  const annotations = Object.entries(pod.metadata.annotations ?? {})
    .filter(([key, value]) => key.startsWith(appArmorPrefix) && !/^(|runtime\/default|localhost\/.*)$/.test(value))
    .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    .sort();
  const bad = [...sortedSet(badTypes), ...annotations];
  if (bad.length === 0) return undefined;
  const all = [who ?? [], annotations.length === 0 ? [] : plural('annotation', annotations.length)]
    .flat()
    .join(' and ');
  return {
    reason: plural('forbidden AppArmor profile', bad.length),
    detail: `${all} must not set AppArmor profile type to ${quoted(bad)}`,
  };
}

const usualCapabilities: readonly string[] = [
  ...['AUDIT_WRITE', 'CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID', 'KILL', 'MKNOD'],
  ...['NET_BIND_SERVICE', 'SETFCAP', 'SETGID', 'SETPCAP', 'SETUID', 'SYS_CHROOT'],
];

function capabilities(pod: PodShape): Violation | undefined {
  const added: string[] = [];
  const bad = namesWhere(pod, (container) => {
    const unusual = list(security(container, 'capabilities', 'add')).map(String);
    const forbidden = unusual.filter((each) => !usualCapabilities.includes(each));
    added.push(...forbidden);
    return forbidden.length > 0;
  });
  if (bad.length === 0) return undefined;
  return {
    reason: 'non-default capabilities',
    detail: `${named('container', bad)} must not include ${quoted(sortedSet(added))} in securityContext.capabilities.add`,
  };
}

function hostNamespaces({ spec }: PodShape): Violation | undefined {
  const shared = ['hostNetwork', 'hostPID', 'hostIPC'].filter((field) => spec[field] === true);
  if (shared.length === 0) return undefined;
  return { reason: 'host namespaces', detail: shared.map((field) => `${field}=true`).join(', ') };
}

function hostPathVolumes({ spec }: PodShape): Violation | undefined {
  const bad = records(spec.volumes).filter(({ hostPath }) => hostPath != null);
  if (bad.length === 0) return undefined;
  return {
    reason: 'hostPath volumes',
    detail: named(
      'volume',
      bad.map(({ name }) => text(name) ?? ''),
    ),
  };
}

function hostPorts(pod: PodShape): Violation | undefined {
  const ports: string[] = [];
  const bad = namesWhere(pod, (container) => {
    const used = records(container.ports).flatMap(({ hostPort }) => (hostPort ? [String(hostPort)] : []));
    ports.push(...used);
    return used.length > 0;
  });
  if (bad.length === 0) return undefined;
  const used = sortedSet(ports);
  const verb = bad.length === 1 ? 'uses' : 'use';
  return {
    reason: 'hostPort',
    detail: `${named('container', bad)} ${verb} ${plural('hostPort', used.length)} ${used.join(', ')}`,
  };
}

function hostsOfProbes(pod: PodShape): Violation | undefined {
  const hosts: string[] = [];
  const bad = namesWhere(pod, (container) => {
    const handlers = [
      ...['livenessProbe', 'readinessProbe', 'startupProbe'].map((field) => container[field]),
      ...['postStart', 'preStop'].map((field) => at(container, 'lifecycle', field)),
    ];
    const told = handlers.flatMap((handler) =>
      ['httpGet', 'tcpSocket'].flatMap((kind) => text(at(handler, kind, 'host')) || []),
    );
    hosts.push(...told);
    return told.length > 0;
  });
  if (bad.length === 0) return undefined;
  const verb = bad.length === 1 ? 'uses' : 'use';
  const told = sortedSet(hosts);
  const reason = 'probe or lifecycle host';
  return {
    reason,
    detail: `${named('container', sortedSet(bad))} ${verb} ${plural(reason, told.length)} ${quoted(told)}`,
  };
}

function privileged(pod: PodShape): Violation | undefined {
  const bad = namesWhere(pod, (container) => security(container, 'privileged') === true);
  if (bad.length === 0) return undefined;
  return { reason: 'privileged', detail: `${named('container', bad)} must not set securityContext.privileged=true` };
}

function procMount(pod: PodShape): Violation | undefined {
  const types: string[] = [];
  const bad = namesWhere(pod, (container) => {
    const type = text(security(container, 'procMount'));
    if (type === undefined || type === 'Default') return false;
    types.push(type);
    return true;
  });
  if (bad.length === 0) return undefined;
  const told = quoted(sortedSet(types));
  return {
    reason: 'procMount',
    detail: `${named('container', bad)} must not set securityContext.procMount to ${told}`,
  };
}

const seLinuxTypes: readonly string[] = ['', 'container_t', 'container_init_t', 'container_kvm_t'];

function seLinuxOptions(pod: PodShape, allowedTypes: readonly string[]): Violation | undefined {
  const types: string[] = [];
  const fields = new Set<string>();
  const isBad = (owner: JsonRecord) => {
    const options = record(security(owner, 'seLinuxOptions'));
    const type = text(options.type) ?? '';
    const isForeign = !allowedTypes.includes(type);
    if (isForeign) types.push(type);
    const set = ['user', 'role'].filter((field) => (text(options[field]) ?? '') !== '');
    for (const field of set) fields.add(field);
    return isForeign || set.length > 0;
  };
  const who = setters(isBad(pod.spec), namesWhere(pod, isBad));
  if (who === undefined) return undefined;
  const told = sortedSet(types);
  const bad = [
    ...(told.length === 0 ? [] : [`${plural('type', told.length)} ${quoted(told)}`]),
    ...['user', 'role'].filter((field) => fields.has(field)).map((field) => `${field} may not be set`),
  ];
  return { reason: 'seLinuxOptions', detail: `${who} set forbidden securityContext.seLinuxOptions: ${bad.join('; ')}` };
}

export function isGoodSeccomp(type: unknown): boolean {
  return type === 'RuntimeDefault' || type === 'Localhost';
}

function seccompProfile(pod: PodShape): Violation | undefined {
  const types: string[] = [];
  const isBad = (owner: JsonRecord) => {
    const profile = security(owner, 'seccompProfile');
    const type = at(profile, 'type');
    if (profile === undefined || isGoodSeccomp(type)) return false;
    types.push(text(type) ?? '');
    return true;
  };
  const who = setters(isBad(pod.spec), namesWhere(pod, isBad));
  if (who === undefined) return undefined;
  const told = quoted(sortedSet(types));
  return { reason: 'seccompProfile', detail: `${who} must not set securityContext.seccompProfile.type to ${told}` };
}

/** Before the fields there were annotations. */
function seccompAnnotations(pod: PodShape): Violation | undefined {
  const annotations = pod.metadata.annotations ?? {};
  const keys = [
    'seccomp.security.alpha.kubernetes.io/pod',
    ...containersOf(pod).map(({ name }) => `container.seccomp.security.alpha.kubernetes.io/${name}`),
  ];
  const bad = sortedSet(
    keys.flatMap((key) => {
      const value = annotations[key];
      const isGood = value === undefined || /^(runtime\/default|docker\/default|localhost\/.*)$/.test(value);
      return isGood ? [] : [`${key}=${JSON.stringify(value)}`];
    }),
  );
  if (bad.length === 0) return undefined;
  return {
    reason: 'seccompProfile',
    detail: `forbidden ${plural('annotation', bad.length)} ${bad.join(', ')}`,
  };
}

/** Each version allows what the ones before it did, and more. */
function sysctlVersions(): PodCheck['versions'] {
  const added: readonly (readonly [number, readonly string[]])[] = [
    [
      0,
      [
        ...['kernel.shm_rmid_forced', 'net.ipv4.ip_local_port_range', 'net.ipv4.tcp_syncookies'],
        ...['net.ipv4.ping_group_range', 'net.ipv4.ip_unprivileged_port_start'],
      ],
    ],
    [27, ['net.ipv4.ip_local_reserved_ports']],
    [
      29,
      ['keepalive_time', 'fin_timeout', 'keepalive_intvl', 'keepalive_probes'].map((name) => `net.ipv4.tcp_${name}`),
    ],
    [32, ['net.ipv4.tcp_rmem', 'net.ipv4.tcp_wmem']],
  ];
  return added
    .map(([since], index) => {
      const allowed = added.slice(0, index + 1).flatMap(([, names]) => names);
      return { since, find: (pod: PodShape) => sysctls(pod, allowed) };
    })
    .reverse();
}

function sysctls({ spec }: PodShape, allowed: readonly string[]): Violation | undefined {
  const names = records(security(spec, 'sysctls')).map(({ name }) => text(name) ?? '');
  const bad = names.filter((name) => !allowed.includes(name));
  return bad.length === 0 ? undefined : { reason: 'forbidden sysctls', detail: bad.join(', ') };
}

function windowsHostProcess(pod: PodShape): Violation | undefined {
  const isBad = (owner: JsonRecord) => security(owner, 'windowsOptions', 'hostProcess') === true;
  const who = setters(isBad(pod.spec), namesWhere(pod, isBad));
  if (who === undefined) return undefined;
  return { reason: 'hostProcess', detail: `${who} must not set securityContext.windowsOptions.hostProcess=true` };
}
