/** A system call that containers with the default profile may not make, unless they have the capability that it is for. */
export interface RestrictedCall {
  readonly name: string;
  /** Its number where Node calls the processor so; absent where it has no such call. */
  readonly x64?: number;
  readonly arm64?: number;
  readonly allowedBy?: string;
}

/**
 * What container runtimes keep from containers by default: the kernel's own keys, clocks, modules, mounts and namespaces, and what
 * was often the way out of a sandbox. Numbers are those of the kernel's tables (asm/unistd_64.h, asm-generic/unistd.h).
 */
export const restrictedCalls: readonly RestrictedCall[] = [
  { name: 'acct', x64: 163, arm64: 89, allowedBy: 'CAP_SYS_PACCT' },
  { name: 'add_key', x64: 248, arm64: 217 },
  { name: 'bpf', x64: 321, arm64: 280, allowedBy: 'CAP_SYS_ADMIN' },
  { name: 'clock_adjtime', x64: 305, arm64: 266, allowedBy: 'CAP_SYS_TIME' },
  { name: 'clock_settime', x64: 227, arm64: 112, allowedBy: 'CAP_SYS_TIME' },
  { name: 'create_module', x64: 174 },
  { name: 'delete_module', x64: 176, arm64: 106, allowedBy: 'CAP_SYS_MODULE' },
  { name: 'fanotify_init', x64: 300, arm64: 262, allowedBy: 'CAP_SYS_ADMIN' },
  { name: 'finit_module', x64: 313, arm64: 273, allowedBy: 'CAP_SYS_MODULE' },
  { name: 'fsconfig', x64: 431, arm64: 431, allowedBy: 'CAP_SYS_ADMIN' },
  { name: 'fsmount', x64: 432, arm64: 432, allowedBy: 'CAP_SYS_ADMIN' },
  { name: 'fsopen', x64: 430, arm64: 430, allowedBy: 'CAP_SYS_ADMIN' },
  { name: 'fspick', x64: 433, arm64: 433, allowedBy: 'CAP_SYS_ADMIN' },
  { name: 'get_kernel_syms', x64: 177 },
  { name: 'get_mempolicy', x64: 239, arm64: 236, allowedBy: 'CAP_SYS_NICE' },
  { name: 'init_module', x64: 175, arm64: 105, allowedBy: 'CAP_SYS_MODULE' },
  { name: 'io_uring_enter', x64: 426, arm64: 426 },
  { name: 'io_uring_register', x64: 427, arm64: 427 },
  { name: 'io_uring_setup', x64: 425, arm64: 425 },
  { name: 'ioperm', x64: 173, allowedBy: 'CAP_SYS_RAWIO' },
  { name: 'iopl', x64: 172, allowedBy: 'CAP_SYS_RAWIO' },
  { name: 'kcmp', x64: 312, arm64: 272, allowedBy: 'CAP_SYS_PTRACE' },
  { name: 'kexec_file_load', x64: 320, arm64: 294, allowedBy: 'CAP_SYS_BOOT' },
  { name: 'kexec_load', x64: 246, arm64: 104, allowedBy: 'CAP_SYS_BOOT' },
  { name: 'keyctl', x64: 250, arm64: 219 },
  { name: 'lookup_dcookie', x64: 212, arm64: 18, allowedBy: 'CAP_SYS_ADMIN' },
  { name: 'mbind', x64: 237, arm64: 235, allowedBy: 'CAP_SYS_NICE' },
  { name: 'migrate_pages', x64: 256, arm64: 238, allowedBy: 'CAP_SYS_NICE' },
  { name: 'mount', x64: 165, arm64: 40, allowedBy: 'CAP_SYS_ADMIN' },
  { name: 'mount_setattr', x64: 442, arm64: 442, allowedBy: 'CAP_SYS_ADMIN' },
  { name: 'move_mount', x64: 429, arm64: 429, allowedBy: 'CAP_SYS_ADMIN' },
  { name: 'move_pages', x64: 279, arm64: 239, allowedBy: 'CAP_SYS_NICE' },
  { name: 'nfsservctl', x64: 180, arm64: 42 },
  { name: 'open_by_handle_at', x64: 304, arm64: 265, allowedBy: 'CAP_DAC_READ_SEARCH' },
  { name: 'open_tree', x64: 428, arm64: 428, allowedBy: 'CAP_SYS_ADMIN' },
  { name: 'perf_event_open', x64: 298, arm64: 241, allowedBy: 'CAP_PERFMON' },
  { name: 'pivot_root', x64: 155, arm64: 41 },
  { name: 'process_vm_readv', x64: 310, arm64: 270, allowedBy: 'CAP_SYS_PTRACE' },
  { name: 'process_vm_writev', x64: 311, arm64: 271, allowedBy: 'CAP_SYS_PTRACE' },
  { name: 'query_module', x64: 178 },
  { name: 'quotactl', x64: 179, arm64: 60, allowedBy: 'CAP_SYS_ADMIN' },
  { name: 'reboot', x64: 169, arm64: 142, allowedBy: 'CAP_SYS_BOOT' },
  { name: 'request_key', x64: 249, arm64: 218 },
  { name: 'set_mempolicy', x64: 238, arm64: 237, allowedBy: 'CAP_SYS_NICE' },
  { name: 'setns', x64: 308, arm64: 268, allowedBy: 'CAP_SYS_ADMIN' },
  { name: 'settimeofday', x64: 164, arm64: 170, allowedBy: 'CAP_SYS_TIME' },
  { name: 'swapoff', x64: 168, arm64: 225, allowedBy: 'CAP_SYS_ADMIN' },
  { name: 'swapon', x64: 167, arm64: 224, allowedBy: 'CAP_SYS_ADMIN' },
  { name: 'sysfs', x64: 139 },
  { name: 'syslog', x64: 103, arm64: 116, allowedBy: 'CAP_SYSLOG' },
  { name: 'umount2', x64: 166, arm64: 39, allowedBy: 'CAP_SYS_ADMIN' },
  { name: 'unshare', x64: 272, arm64: 97, allowedBy: 'CAP_SYS_ADMIN' },
  { name: 'uselib', x64: 134 },
  { name: 'userfaultfd', x64: 323, arm64: 282, allowedBy: 'CAP_SYS_PTRACE' },
  { name: 'ustat', x64: 136 },
  { name: 'vhangup', x64: 153, arm64: 58, allowedBy: 'CAP_SYS_TTY_CONFIG' },
];
