import { type Container, deepEqual, type Pod } from '@castellan/machinery';
import { createCgroup } from '../sandbox/cgroups.js';
import { type GivenResources, givenResources, resourceLimits } from './container-resources.js';
import type { ContainerRun } from './container-run.js';
import type { PodHost } from './pod-host.js';

/** What became of a wish for other resources: `restart` is for those whose container is to begin anew with them. */
export type ResizeResult =
  | { readonly kind: 'same' | 'done' | 'restart' }
  | { readonly kind: 'infeasible'; readonly why: string };

/**
 * Brings a running container's control groups to what the pod asks for now (KEP-1287). A limit on memory cannot be given in
 * place to a container that was started without one, for its processes are in no group for it.
 */
export function resizeContainer(
  { cgroups: layout, network }: Pick<PodHost, 'cgroups' | 'network'>,
  run: ContainerRun,
  { pod, container }: { readonly pod: Pod; readonly container: Container },
): ResizeResult {
  const wanted = givenResources(container);
  const given = run.record.resources ?? wanted;
  if (deepEqual(wanted, given)) return { kind: 'same' };
  if (changedResources(given, wanted).some((resource) => needsRestart(container, resource))) return { kind: 'restart' };
  const { number } = run.record;
  const name = { plane: network.bridge, pod: pod.metadata.uid ?? '', container: `${container.name}-${number}` };
  const limits = resourceLimits(pod, container);
  if (limits.memoryBytes !== undefined && given.limits?.memory === undefined) {
    return { kind: 'infeasible', why: `container ${container.name} was started without a limit on memory` };
  }
  try {
    createCgroup(layout, name, limits);
  } catch (error) {
    // The kernel refuses a limit below what is used already.
    return {
      kind: 'infeasible',
      why: `container ${container.name}: ${error instanceof Error ? error.message : error}`,
    };
  }
  return { kind: 'done' };
}

function changedResources(given: GivenResources, wanted: GivenResources): readonly string[] {
  return ['cpu', 'memory'].filter(
    (resource) =>
      given.requests?.[resource] !== wanted.requests?.[resource] ||
      given.limits?.[resource] !== wanted.limits?.[resource],
  );
}

function needsRestart({ resizePolicy = [] }: Container, resource: string): boolean {
  return resizePolicy.some(({ resourceName, restartPolicy }) => {
    return resourceName === resource && restartPolicy === 'RestartContainer';
  });
}
