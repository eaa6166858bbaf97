import type { Container, Pod } from '@castellan/machinery';
import type { ImageUser } from '../images/image.js';
import { type ContainerUser, capabilitySet } from '../sandbox/container-user.js';
import { defaultFilter } from '../sandbox/seccomp-filter.js';
import { ContainerConfigError } from './environment.js';

/** Who a container's programs are: what the container says, else the pod, else its image, else user 0; with the default capabilities. */
export function containerUser(pod: Pod, container: Container, imageUser?: ImageUser): ContainerUser {
  const own = container.securityContext ?? {};
  const shared = pod.spec?.securityContext ?? {};
  const wanted = own.runAsUser ?? shared.runAsUser;
  // Groups of the image's user are those of nobody else.
  const image = wanted === undefined ? imageUser : undefined;
  return {
    user: wanted ?? image?.user ?? 0,
    group: own.runAsGroup ?? shared.runAsGroup ?? image?.group ?? 0,
    groups: [
      ...(image?.groups ?? []),
      ...(shared.supplementalGroups ?? []),
      ...(shared.fsGroup === undefined ? [] : [shared.fsGroup]),
    ],
    capabilities: capabilitySet(own.capabilities?.add ?? [], own.capabilities?.drop ?? []),
  };
}

/** Throws a ContainerConfigError for what a container asks for and must not have, or cannot have here. */
export function checkSecurity(pod: Pod, container: Container, imageUser?: ImageUser): void {
  const { securityContext = {} } = container;
  const { name, namespace, uid } = pod.metadata;
  if (securityContext.privileged === true) {
    throw refused('privileged: true', 'it would be root of this machine; next: add the capabilities that it needs');
  }
  if (securityContext.procMount === 'Unmasked') throw refused('procMount: Unmasked', 'next: leave it out');
  const mustNotBeRoot = securityContext.runAsNonRoot ?? pod.spec?.securityContext?.runAsNonRoot ?? false;
  if (!mustNotBeRoot || containerUser(pod, container, imageUser).user !== 0) return;
  const isAsked = (securityContext.runAsUser ?? pod.spec?.securityContext?.runAsUser) === 0;
  const why = isAsked
    ? "container's runAsUser breaks non-root policy"
    : 'container has runAsNonRoot and image will run as root';
  throw new ContainerConfigError(`${why} (pod: "${name}_${namespace}(${uid})", container: ${container.name})`);
}

/** The filter of the container's seccomp profile, or its pod's; undefined when it has none, or Unconfined. */
export function systemCallFilter(pod: Pod, container: Container): Buffer | undefined {
  const profile = container.securityContext?.seccompProfile ?? pod.spec?.securityContext?.seccompProfile;
  switch (profile?.type) {
    case 'RuntimeDefault':
      return defaultFilter(containerUser(pod, container).capabilities);
    case 'Localhost':
      throw refused(`seccompProfile ${profile.localhostProfile ?? ''}`, 'next: use RuntimeDefault');
    default:
      return undefined;
  }
}

/** Why a pod can never run on this node as it asks; undefined when it can. */
export function podRefusal({ spec }: Pod): string | undefined {
  const refusals = [
    [spec?.hostNetwork, 'hostNetwork', 'every pod has a network of its own'],
    [spec?.hostPID, 'hostPID', 'every pod sees its own processes only'],
    [spec?.hostIPC, 'hostIPC', 'every container has its own shared memory'],
    [hasOwnUsers(spec), 'hostUsers: false', 'users of pods are those of the machine'],
  ] as const;
  const first = refusals.find(([isAsked]) => isAsked === true);
  return first === undefined ? undefined : refused(first[1], first[2]).message;
}

/** Younger than the published types. */
function hasOwnUsers(spec: Pod['spec']): boolean {
  return spec !== undefined && 'hostUsers' in spec && spec.hostUsers === false;
}

function refused(what: string, why: string): ContainerConfigError {
  return new ContainerConfigError(`${what} is not offered by this node: ${why}`);
}
