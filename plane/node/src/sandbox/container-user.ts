import type { Helpers } from './image-programs.js';

/** Who a container's programs are, and what they may do. */
export interface ContainerUser {
  readonly user: number;
  readonly group: number;
  /** Further groups. */
  readonly groups: readonly number[];
  /** What user 0 may do, with their kernel names; any other user may do nothing of it. */
  readonly capabilities: readonly string[];
}

/** What a container may do as root unless it asks for more or less: the default set of Kubernetes' runtimes. */
const defaultCapabilities: readonly string[] = [
  'CAP_AUDIT_WRITE',
  'CAP_CHOWN',
  'CAP_DAC_OVERRIDE',
  'CAP_FOWNER',
  'CAP_FSETID',
  'CAP_KILL',
  'CAP_MKNOD',
  'CAP_NET_BIND_SERVICE',
  'CAP_NET_RAW',
  'CAP_SETFCAP',
  'CAP_SETGID',
  'CAP_SETPCAP',
  'CAP_SETUID',
  'CAP_SYS_CHROOT',
];

/** All that Linux has (capabilities(7)). */
const allCapabilities: readonly string[] = [
  ...defaultCapabilities,
  'CAP_AUDIT_CONTROL',
  'CAP_AUDIT_READ',
  'CAP_BLOCK_SUSPEND',
  'CAP_BPF',
  'CAP_CHECKPOINT_RESTORE',
  'CAP_DAC_READ_SEARCH',
  'CAP_IPC_LOCK',
  'CAP_IPC_OWNER',
  'CAP_LEASE',
  'CAP_LINUX_IMMUTABLE',
  'CAP_MAC_ADMIN',
  'CAP_MAC_OVERRIDE',
  'CAP_NET_ADMIN',
  'CAP_NET_BROADCAST',
  'CAP_PERFMON',
  'CAP_SYSLOG',
  'CAP_SYS_ADMIN',
  'CAP_SYS_BOOT',
  'CAP_SYS_MODULE',
  'CAP_SYS_NICE',
  'CAP_SYS_PACCT',
  'CAP_SYS_PTRACE',
  'CAP_SYS_RAWIO',
  'CAP_SYS_RESOURCE',
  'CAP_SYS_TIME',
  'CAP_SYS_TTY_CONFIG',
  'CAP_WAKE_ALARM',
];

/** To become another user, and to give up capabilities on the way. */
const neededToChange = ['CAP_SETGID', 'CAP_SETPCAP', 'CAP_SETUID'];

export const rootUser: ContainerUser = { user: 0, group: 0, groups: [], capabilities: defaultCapabilities };

/**
 * The default set with these added and dropped, as a manifest names them: `NET_ADMIN`, with or without `CAP_`, or `ALL`.
 * What is added stays, even when all are dropped. Throws for a name that Linux does not have.
 */
export function capabilitySet(add: readonly string[], drop: readonly string[]): readonly string[] {
  const [added, dropped] = [new Set(add.flatMap(named)), new Set(drop.flatMap(named))];
  return allCapabilities.filter(
    (name) => added.has(name) || (defaultCapabilities.includes(name) && !dropped.has(name)),
  );
}

/** What bubblewrap has to leave for `asUser` to do the rest. */
export function capabilitiesToEnter(user: ContainerUser): readonly string[] {
  return isRoot(user) ? user.capabilities : [...new Set([...user.capabilities, ...neededToChange])];
}

/**
 * The command as this user. bubblewrap changes users by means of a user namespace only; as root we want none, so the change
 * is made inside.
 */
export function asUser(user: ContainerUser, command: readonly string[], helpers: Helpers): readonly string[] {
  return isRoot(user) ? command : [...setPrivileges(user, helpers), ...command];
}

/** As `asUser`, for a command that comes from outside with all capabilities. */
export function enterAsUser(user: ContainerUser, command: readonly string[], helpers: Helpers): readonly string[] {
  return [...setPrivileges(user, helpers), ...command];
}

function isRoot({ user, group, groups }: ContainerUser): boolean {
  return user === 0 && group === 0 && groups.length === 0;
}

function setPrivileges(who: ContainerUser, helpers: Helpers): readonly string[] {
  const { user, group, groups, capabilities } = who;
  const kept = capabilities.map((name) => `,+${name.slice('CAP_'.length).toLowerCase()}`).join('');
  return [
    ...[...helpers('setpriv'), '--no-new-privs', `--bounding-set=-all${kept}`, '--inh-caps=-all'],
    // Where an ordinary user is root, there is nobody else to become, and groups may not be set.
    ...(isRoot(who) ? [] : [`--reuid=${user}`, `--regid=${group}`]),
    ...(isRoot(who) ? [] : [groups.length === 0 ? '--clear-groups' : `--groups=${groups.join(',')}`]),
    '--',
  ];
}

function named(word: string): readonly string[] {
  if (word.toUpperCase() === 'ALL') return allCapabilities;
  const name = word.toUpperCase().startsWith('CAP_') ? word.toUpperCase() : `CAP_${word.toUpperCase()}`;
  if (!allCapabilities.includes(name)) throw new Error(`unknown capability "${word}"`);
  return [name];
}
