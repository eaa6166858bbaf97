import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What a container may use at most. An absent field is no limit. */
export interface ResourceLimits {
  readonly memoryBytes?: number;
  /** Thousandths of one processor. */
  readonly cpuMillis?: number;
}

/** Where this machine keeps control groups. Both versions may be mounted; the one that has the controllers counts. */
export type CgroupLayout =
  | { readonly kind: 'v1'; readonly memory: string; readonly cpu: string }
  | { readonly kind: 'v2'; readonly root: string }
  | { readonly kind: 'none'; readonly why: string };

const periodMicroseconds = 100_000;

/** `probe` is a group that may be made, and removed again, to see whether any can. */
export function detectCgroups(probe: string): CgroupLayout {
  const mounts = readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' '));
  const v1 = (controller: string) =>
    mounts.find(([, , type, options]) => type === 'cgroup' && options?.split(',').includes(controller))?.[1];
  const [memory, cpu] = [v1('memory'), v1('cpu')];
  if (memory !== undefined && cpu !== undefined) {
    return isWritable(memory, probe) ? { kind: 'v1', memory, cpu } : { kind: 'none', why: `${memory} is not writable` };
  }
  const root = mounts.find(([, , type]) => type === 'cgroup2')?.[1];
  if (root === undefined) return { kind: 'none', why: 'no cgroup file system is mounted' };
  const controllers = readFileSync(join(root, 'cgroup.controllers'), 'utf8').trim().split(' ');
  if (!controllers.includes('memory') || !controllers.includes('cpu')) {
    return { kind: 'none', why: `${root} has no memory and cpu controllers` };
  }
  return isWritable(root, probe) ? { kind: 'v2', root } : { kind: 'none', why: `${root} is not writable` };
}

/** Makes the group `plane/name` with these limits; the result is the directories whose cgroup.procs a process joins. */
export function createCgroup(
  layout: CgroupLayout,
  group: { readonly plane: string; readonly name: string },
  limits: ResourceLimits,
): readonly string[] {
  switch (layout.kind) {
    case 'none':
      return [];
    case 'v1': {
      const { memoryBytes, cpuMillis } = limits;
      const directories: string[] = [];
      if (memoryBytes !== undefined) {
        const directory = makeDirectory(join(layout.memory, group.plane, group.name));
        writeFileSync(join(directory, 'memory.limit_in_bytes'), String(memoryBytes));
        directories.push(directory);
      }
      if (cpuMillis !== undefined) {
        const directory = makeDirectory(join(layout.cpu, group.plane, group.name));
        writeFileSync(join(directory, 'cpu.cfs_period_us'), String(periodMicroseconds));
        writeFileSync(join(directory, 'cpu.cfs_quota_us'), String(quota(cpuMillis)));
        directories.push(directory);
      }
      return directories;
    }
    case 'v2': {
      const plane = makeDirectory(join(layout.root, group.plane));
      for (const parent of [layout.root, plane]) {
        writeFileSync(join(parent, 'cgroup.subtree_control'), '+memory +cpu');
      }
      const directory = makeDirectory(join(plane, group.name));
      if (limits.memoryBytes !== undefined) writeFileSync(join(directory, 'memory.max'), String(limits.memoryBytes));
      if (limits.cpuMillis !== undefined) {
        writeFileSync(join(directory, 'cpu.max'), `${quota(limits.cpuMillis)} ${periodMicroseconds}`);
      }
      return [directory];
    }
  }
}

/** Whether the kernel killed something of the group for want of memory. */
export function wasOutOfMemory(directories: readonly string[]): boolean {
  return directories.some((directory) =>
    ['memory.oom_control', 'memory.events'].some((file) => {
      try {
        return /^oom_kill [1-9]/m.test(readFileSync(join(directory, file), 'utf8'));
      } catch {
        return false;
      }
    }),
  );
}

/** Removes groups by directory. One that still has a process in it stays, and is `false` in the result. */
export function removeCgroups(directories: readonly string[]): boolean {
  return directories.map(removeDirectory).every(Boolean);
}

/** Removes the plane's groups that have no process any more; `true` when none is left. */
export function removePlaneCgroups(layout: CgroupLayout, plane: string): boolean {
  const roots = layout.kind === 'v1' ? [layout.memory, layout.cpu] : layout.kind === 'v2' ? [layout.root] : [];
  return roots
    .map((root) => join(root, plane))
    .filter((directory) => existsSync(directory))
    .map((directory) => {
      const children = readdirSync(directory, { withFileTypes: true }).filter((entry) => entry.isDirectory());
      for (const child of children) removeDirectory(join(directory, child.name));
      return removeDirectory(directory);
    })
    .every(Boolean);
}

function quota(cpuMillis: number): number {
  return Math.max(1_000, Math.round((cpuMillis * periodMicroseconds) / 1000));
}

function makeDirectory(path: string): string {
  mkdirSync(path, { recursive: true });
  return path;
}

function removeDirectory(path: string): boolean {
  try {
    rmdirSync(path);
    return true;
  } catch {
    return !existsSync(path);
  }
}

/** Making a group is the only test that tells: the permission bits of a control group file system mean little. */
function isWritable(root: string, probe: string): boolean {
  try {
    makeDirectory(join(root, probe));
  } catch {
    return false;
  }
  // One that was there before and is in use stays.
  removeDirectory(join(root, probe));
  return true;
}
