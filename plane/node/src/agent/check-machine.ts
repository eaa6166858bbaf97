import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { detectCgroups } from '../sandbox/cgroups.js';
import { runCommand } from '../sandbox/command.js';

/** One thing that pods need of the machine, and whether it is there. */
export interface MachineFinding {
  readonly name: string;
  readonly ok: boolean;
  /** Pods run without it, but not as well. */
  readonly isOptional: boolean;
  /** What was looked at and what it said. */
  readonly evidence: string;
  /** What to do; empty when nothing is. */
  readonly next: string;
}

interface Program {
  readonly name: string;
  readonly package: string;
  readonly versionFlag: string;
  readonly isOptional: boolean;
}

const programs: readonly Program[] = [
  { name: 'bwrap', package: 'bubblewrap', versionFlag: '--version', isOptional: false },
  { name: 'ip', package: 'iproute2', versionFlag: '-V', isOptional: false },
  { name: 'nsenter', package: 'util-linux', versionFlag: '--version', isOptional: false },
  { name: 'setpriv', package: 'util-linux', versionFlag: '--version', isOptional: false },
  { name: 'nft', package: 'nftables', versionFlag: '--version', isOptional: true },
  { name: 'fallocate', package: 'util-linux', versionFlag: '--version', isOptional: true },
  { name: 'script', package: 'bsdutils', versionFlag: '--version', isOptional: true },
  { name: 'getent', package: 'libc-bin', versionFlag: '--version', isOptional: false },
  { name: 'etcd', package: 'etcd-server', versionFlag: '--version', isOptional: true },
  { name: 'etcdctl', package: 'etcd-client', versionFlag: 'version', isOptional: true },
];

/** For `castellan doctor`: tries each thing for real, on names of its own, and leaves nothing behind. */
export async function checkMachine(): Promise<readonly MachineFinding[]> {
  return [
    checkRoot(),
    ...(await Promise.all(programs.map(checkProgram))),
    await checkNamespace(),
    await checkBridge(),
    await checkSandbox(),
    checkBridgeFilter(),
    await checkPacketFilter(),
    checkCgroups(),
  ];
}

function checkRoot(): MachineFinding {
  const user = process.getuid?.() ?? -1;
  return {
    name: 'root',
    ok: user === 0,
    isOptional: false,
    evidence: `user id ${user}`,
    next: user === 0 ? '' : 'run as root; or start the plane with --no-node, without pods',
  };
}

async function checkProgram(program: Program): Promise<MachineFinding> {
  const path = findProgram(program.name);
  const next = path === undefined ? `apt-get install ${program.package}` : '';
  const found = { name: program.name, ok: path !== undefined, isOptional: program.isOptional, next };
  if (path === undefined) return { ...found, evidence: 'not in /usr/sbin, /usr/bin, /sbin or /bin' };
  const { stdout, stderr } = await runCommand(path, [program.versionFlag], { deadlineMs: 5_000 });
  return { ...found, evidence: `${path}: ${`${stdout}${stderr}`.trim().split('\n')[0] ?? ''}` };
}

async function checkNamespace(): Promise<MachineFinding> {
  const name = `castellan-doctor-${process.pid}`;
  const made = await attempt('ip', ['netns', 'add', name]);
  if (made.ok) await attempt('ip', ['netns', 'delete', name]);
  return {
    name: 'network namespaces',
    ...made,
    isOptional: false,
    next: made.ok ? '' : 'run as root (CAP_SYS_ADMIN); in a container, start it with --privileged',
  };
}

async function checkBridge(): Promise<MachineFinding> {
  const name = `casd${process.pid}`;
  const made = await attempt('ip', ['link', 'add', name, 'type', 'bridge']);
  if (made.ok) await attempt('ip', ['link', 'delete', name]);
  return {
    name: 'bridge',
    ...made,
    isOptional: false,
    next: made.ok ? '' : 'run as root (CAP_NET_ADMIN), with the kernel module `bridge` loaded: modprobe bridge veth',
  };
}

async function checkSandbox(): Promise<MachineFinding> {
  const args = ['--unshare-pid', '--ro-bind', '/', '/', '--proc', '/proc', '--dev', '/dev', '--', '/bin/true'];
  const ran = await attempt('bwrap', args);
  return {
    name: 'sandbox',
    ...ran,
    isOptional: false,
    next: ran.ok ? '' : 'allow mount and pid namespaces: in a container, start it with --privileged',
  };
}

/** Docker has traffic within bridges go through iptables, and its rules drop what is not its own. */
function checkBridgeFilter(): MachineFinding {
  const path = '/proc/sys/net/bridge/bridge-nf-call-iptables';
  const isFiltered = existsSync(path) && readFileSync(path, 'utf8').trim() === '1';
  return {
    name: 'bridge filter',
    ok: !isFiltered,
    isOptional: true,
    evidence: isFiltered ? `${path} is 1` : 'traffic within bridges does not go through iptables',
    next: isFiltered ? 'if pods do not reach each other: sysctl -w net.bridge.bridge-nf-call-iptables=0' : '',
  };
}

/** With it services are forwarded by the kernel, and there are network policies. */
async function checkPacketFilter(): Promise<MachineFinding> {
  const table = `castellan-doctor-${process.pid}`;
  const made = await attempt('nft', ['add', 'table', 'ip', table]);
  if (made.ok) await attempt('nft', ['delete', 'table', 'ip', table]);
  const isBridged = existsSync('/proc/sys/net/bridge/bridge-nf-call-iptables');
  const missing = made.ok ? 'modprobe br_netfilter' : 'apt-get install nftables, and run as root';
  return {
    name: 'packet filter',
    ok: made.ok && isBridged,
    isOptional: true,
    evidence: made.ok && !isBridged ? 'nftables works; the kernel module br_netfilter is not loaded' : made.evidence,
    next:
      made.ok && isBridged
        ? ''
        : `${missing}; without it services go through this program, and network policies are not enforced`,
  };
}

function checkCgroups(): MachineFinding {
  const layout = detectCgroups('castellan-doctor');
  return {
    name: 'control groups',
    ok: layout.kind !== 'none',
    isOptional: true,
    evidence: layout.kind === 'none' ? layout.why : `cgroup ${layout.kind} with memory and cpu, writable`,
    next: layout.kind === 'none' ? 'none is needed; resources.limits of containers are not enforced' : '',
  };
}

async function attempt(
  program: string,
  args: readonly string[],
): Promise<{ readonly ok: boolean; readonly evidence: string }> {
  const command = `${program} ${args.join(' ')}`;
  try {
    const { exitCode, stderr } = await runCommand(program, args, { deadlineMs: 5_000 });
    return {
      ok: exitCode === 0,
      evidence: exitCode === 0 ? `\`${command}\` worked` : `\`${command}\`: ${stderr.trim()}`,
    };
  } catch (error) {
    return { ok: false, evidence: error instanceof Error ? error.message : String(error) };
  }
}

function findProgram(name: string): string | undefined {
  return ['/usr/sbin', '/usr/bin', '/sbin', '/bin'].map((directory) => join(directory, name)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
