import type { Container, Pod, VolumeMount } from '@castellan/machinery';
import type { ContainerUser } from '../sandbox/container-user.js';
import type { RunFacts } from './container-facts.js';
import type { EphemeralContainer } from './pod-spec.js';
import { containerUser } from './security-context.js';

/** What a container was given, for its status: what it may use, what it sees, and who it is while it runs. */
export function containerDetails(
  pod: Pod,
  container: Container | EphemeralContainer,
  run: RunFacts | undefined,
): object {
  const isRunning = run !== undefined && run.end === undefined;
  const { resources, volumeMounts = [] } = container;
  const hasResources = Object.keys({ ...resources?.requests, ...resources?.limits }).length > 0;
  const requests = resources?.requests;
  return {
    ...(isRunning && hasResources ? { resources: withoutClaims(resources) } : {}),
    ...(isRunning && requests !== undefined ? { allocatedResources: requests } : {}),
    ...(isRunning ? { user: { linux: linuxUser(containerUser(pod, container, run.imageUser)) } } : {}),
    ...(volumeMounts.length === 0 ? {} : { volumeMounts: volumeMounts.map(mountStatus) }),
  };
}

function withoutClaims({ requests, limits }: NonNullable<Container['resources']> = {}): object {
  return { ...(limits === undefined ? {} : { limits }), ...(requests === undefined ? {} : { requests }) };
}

/** The first group is among the further ones, as the kernel shows it. */
function linuxUser({ user, group, groups }: ContainerUser): object {
  return { uid: user, gid: group, supplementalGroups: [...new Set([group, ...groups])] };
}

/** Read-only mounts are so with all that is mounted below them. */
function mountStatus({ name, mountPath, readOnly }: VolumeMount): object {
  return { name, mountPath, ...(readOnly === true ? { readOnly, recursiveReadOnly: 'Enabled' } : {}) };
}
