import { readFileSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { createV1Group } from './cgroup-v1.js';
import { createV2Group, delegateControllers } from './cgroup-v2.js';
import type { CgroupLayout, GroupName, ResourceLimits } from './control-group.js';
import { directoriesIn, makeDirectory, removeDirectory } from './group-directory.js';

/** `probe` is a group that may be made, and removed again, to see whether any can. */
export function detectCgroups(probe: string): CgroupLayout {
  const mounts = readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' '));
  const v1 = (controller: string) =>
    mounts.find(([, , type, options]) => type === 'cgroup' && options?.split(',').includes(controller))?.[1];
  const [memory, cpu, pids] = [v1('memory'), v1('cpu'), v1('pids')];
  if (memory !== undefined && cpu !== undefined) {
    const locked = [memory, cpu].find((root) => !isWritable(root, probe));
    if (locked !== undefined) return { kind: 'none', why: `${locked} is not writable` };
    return { kind: 'v1', memory, cpu, ...(pids === undefined || !isWritable(pids, probe) ? {} : { pids }) };
  }
  const root = mounts.find(([, , type]) => type === 'cgroup2')?.[1];
  if (root === undefined) return { kind: 'none', why: 'no cgroup file system is mounted' };
  const controllers = readFileSync(join(root, 'cgroup.controllers'), 'utf8').trim().split(' ');
  if (!controllers.includes('memory') || !controllers.includes('cpu')) {
    return { kind: 'none', why: `${root} has no memory and cpu controllers` };
  }
  if (!isWritable(root, probe)) return { kind: 'none', why: `${root} is not writable` };
  try {
    delegateControllers(root);
  } catch (error) {
    // Within a container, the group of its own processes gives nothing to groups below it.
    return { kind: 'none', why: `${root} gives no controllers: ${error instanceof Error ? error.message : error}` };
  }
  return { kind: 'v2', root };
}

/** Makes a container's group; the result is the directories whose cgroup.procs its first process joins. */
export function createCgroup(layout: CgroupLayout, name: GroupName, limits: ResourceLimits): readonly string[] {
  switch (layout.kind) {
    case 'none':
      return [];
    case 'v1':
      return createV1Group(layout, name, limits);
    case 'v2':
      return createV2Group(layout.root, name, limits);
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

/** Removes a container's groups by directory. One that still has a process in it, or another group, stays. */
export function removeCgroups(directories: readonly string[]): void {
  for (const directory of directories) removeDirectory(directory);
}

/** Removes all groups of a pod that have no process any more; `true` when none is left. */
export function removePodCgroups(layout: CgroupLayout, { plane, pod }: Omit<GroupName, 'container'>): boolean {
  return rootsOf(layout)
    .map((root) => removeTree(join(root, plane, pod)))
    .every(Boolean);
}

/** Removes the plane's groups that have no process any more; `true` when none is left. */
export function removePlaneCgroups(layout: CgroupLayout, plane: string): boolean {
  return rootsOf(layout)
    .map((root) => removeTree(join(root, plane)))
    .every(Boolean);
}

function rootsOf(layout: CgroupLayout): readonly string[] {
  switch (layout.kind) {
    case 'none':
      return [];
    case 'v1':
      return [layout.memory, layout.cpu, ...(layout.pids === undefined ? [] : [layout.pids])];
    case 'v2':
      return [layout.root];
  }
}

function removeTree(directory: string): boolean {
  for (const child of directoriesIn(directory)) removeTree(child);
  return removeDirectory(directory);
}

/** Making a group is the only test that tells: the permission bits of a control group file system mean little. */
function isWritable(root: string, probe: string): boolean {
  try {
    makeDirectory(join(root, probe));
  } catch {
    return false;
  }
  try {
    rmdirSync(join(root, probe));
  } catch {
    // One that was there before and is in use stays.
  }
  return true;
}
