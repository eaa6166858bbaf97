import type { Container, Pod, VolumeMount } from '@castellan/machinery';
import type { ContainerUser } from '../sandbox/container-user.js';
import type { RunFacts } from './container-facts.js';
import { givenResources } from './container-resources.js';
import type { EphemeralContainer } from './pod-spec.js';
import { containerUser } from './security-context.js';

/** What a container was given, for its status: what it may use, what it sees, and who it is while it runs. */
export function containerDetails(
  pod: Pod,
  container: Container | EphemeralContainer,
  run: RunFacts | undefined,
): object {
  const isRunning = run !== undefined && run.end === undefined;
  const { volumeMounts = [] } = container;
  const mounts = volumeMounts.length === 0 ? {} : { volumeMounts: volumeMounts.map(mountStatus) };
  if (!isRunning) return mounts;
  // Also where there are none: it says that they can be changed in place.
  const resources = run.resources ?? givenResources(container);
  const { requests } = resources;
  return {
    resources,
    ...(requests === undefined ? {} : { allocatedResources: requests }),
    user: { linux: linuxUser(containerUser(pod, container, run.imageUser)) },
    ...mounts,
  };
}

/** The first group is among the further ones, as the kernel shows it. */
function linuxUser({ user, group, groups }: ContainerUser): object {
  return { uid: user, gid: group, supplementalGroups: [...new Set([group, ...groups])] };
}

/** Read-only mounts are so with all that is mounted below them. */
function mountStatus({ name, mountPath, readOnly }: VolumeMount): object {
  return { name, mountPath, ...(readOnly === true ? { readOnly, recursiveReadOnly: 'Enabled' } : {}) };
}
