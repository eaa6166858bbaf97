import type { Container, Pod } from '@castellan/machinery';

/** A container that somebody has added to a running pod to look into it. Nothing of the pod depends on it. */
export type EphemeralContainer = NonNullable<NonNullable<Pod['spec']>['ephemeralContainers']>[number];

/** The containers that a pod is made of, in the order of their starts. */
export function containersOf({ spec }: Pod): readonly Container[] {
  return [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])];
}

/** Of all that a pod has, ephemeral ones among them. */
export function containerOf(pod: Pod, name: string): Container | EphemeralContainer | undefined {
  return [...containersOf(pod), ...(pod.spec?.ephemeralContainers ?? [])].find((container) => container.name === name);
}

/** Whose processes an ephemeral container is to see. */
export function targetOf(container: Container | EphemeralContainer): string | undefined {
  const target = 'targetContainerName' in container ? container.targetContainerName : undefined;
  return target === '' ? undefined : target;
}
