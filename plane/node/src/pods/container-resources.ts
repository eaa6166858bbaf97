import { totalmem } from 'node:os';
import { type Container, type Pod, parseQuantity, quantityToNumber } from '@castellan/machinery';
import type { ResourceLimits } from '../sandbox/control-group.js';
import { containersOf } from './pod-spec.js';
import { qosClass } from './qos-class.js';
import { isSidecar } from './restart-policy.js';

type Resource = 'cpu' | 'memory' | 'ephemeral-storage';

/** Processes and threads of one pod: what databases need and more, and so few that a fork bomb harms nobody else. */
const podPids = 2_048;
const leastShares = 2;
const mostShares = 262_144;
const sharesOfProcessor = 1_024;

/** What a container was started with, or given since. */
export interface GivenResources {
  readonly requests?: Readonly<Record<string, string>>;
  readonly limits?: Readonly<Record<string, string>>;
}

export function givenResources({ resources: { requests, limits } = {} }: Container): GivenResources {
  return { ...(limits === undefined ? {} : { limits }), ...(requests === undefined ? {} : { requests }) };
}

/** What the kernel is told of a container's requests and limits, in kubelet's measures. */
export function resourceLimits(pod: Pod, container: Container): ResourceLimits {
  const memoryBytes = limitOf(container, 'memory');
  const cores = limitOf(container, 'cpu');
  return {
    ...(memoryBytes === undefined ? {} : { memoryBytes: Math.floor(memoryBytes) }),
    ...(cores === undefined ? {} : { cpuMillis: Math.ceil(cores * 1000) }),
    shares: { container: sharesOf(requestOf(container, 'cpu')), pod: sharesOf(podRequest(pod, 'cpu')) },
    podPids,
  };
}

/** What it may write to the machine's disk, in bytes. */
export function storageLimitOf(container: Container): number | undefined {
  return limitOf(container, 'ephemeral-storage');
}

/** A limit in cores or bytes. */
function limitOf(container: Container, resource: Resource): number | undefined {
  return amountOf(container.resources?.limits?.[resource]);
}

/**
 * How ready the kernel is to kill the container when the machine's memory is used up, as kubelet has it; but never less than
 * this program itself.
 */
export function outOfMemoryScore(pod: Pod, container: Container): number {
  switch (qosClass(pod)) {
    case 'Guaranteed':
      return 0;
    case 'BestEffort':
      return 1_000;
    default: {
      const part = requestOf(container, 'memory') / totalmem();
      return Math.min(999, Math.max(3, Math.round(1_000 * (1 - part))));
    }
  }
}

/** What a pod asks for while its main containers run: theirs and its sidecars'. */
function podRequest(pod: Pod, resource: Resource): number {
  const init = new Set(pod.spec?.initContainers ?? []);
  const running = containersOf(pod).filter((container) => !init.has(container) || isSidecar(container));
  return running.reduce((sum, container) => sum + requestOf(container, resource), 0);
}

/** A container that names a limit alone asks for that much. */
function requestOf(container: Container, resource: Resource): number {
  return amountOf(container.resources?.requests?.[resource]) ?? limitOf(container, resource) ?? 0;
}

function amountOf(quantity: string | undefined): number | undefined {
  return quantity === undefined ? undefined : quantityToNumber(parseQuantity(quantity));
}

function sharesOf(cores: number): number {
  return Math.min(mostShares, Math.max(leastShares, Math.floor(cores * sharesOfProcessor)));
}
