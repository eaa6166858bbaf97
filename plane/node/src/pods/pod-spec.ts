import type { Container, Pod } from '@castellan/machinery';

/** Every container that a pod may have, in the order of their starts. */
export function containersOf({ spec }: Pod): readonly Container[] {
  return [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])];
}

export function containerOf(pod: Pod, name: string): Container | undefined {
  return containersOf(pod).find((container) => container.name === name);
}
