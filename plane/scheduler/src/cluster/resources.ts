import { type Container, type Node, type Pod, type PodSpec, parseQuantity } from '@castellan/machinery';

/** Amounts by resource name: `cpu` in thousandths of a core, all else (bytes, pieces) in units. */
export type Resources = ReadonlyMap<string, number>;

type Amounts = Readonly<Record<string, string | undefined>>;

/** Resources of the pod as a whole, of KEP-2837; the published types do not have them yet. */
interface HasPodResources {
  readonly resources?: { readonly requests?: Amounts; readonly limits?: Amounts };
}

/** What a container that asks for none is taken to need, else all such pods would go to one node. As upstream: 0.1 cores, 200 MiB. */
const presumedRequests: Resources = new Map([
  ['cpu', 100],
  ['memory', 200 * 2 ** 20],
]);
const nothing: Resources = new Map();

/**
 * What a pod asks for: its containers together with its restartable init containers, or its largest other init container
 * with those that run beside it; or what it says as a whole; plus its overhead, and one pod. Source: KEP-753, KEP-2837.
 */
export function requestsOf({ spec }: Pod, mode: 'asked' | 'presumed' = 'asked'): Resources {
  if (spec === undefined) return nothing;
  const least = mode === 'asked' ? nothing : presumedRequests;
  const needed = new Map([...containersNeed(spec, least), ...podNeeds(spec)]);
  return sum([needed, parseResources(spec.overhead), new Map([['pods', 1]])]);
}

function containersNeed({ initContainers = [], containers }: PodSpec, least: Resources): Resources {
  let sidecars: Resources = nothing;
  let largestStart: Resources = nothing;
  for (const container of initContainers) {
    const own = containerRequests(container, least);
    if (container.restartPolicy === 'Always') sidecars = sum([sidecars, own]);
    else largestStart = largest(largestStart, sum([sidecars, own]));
  }
  const running = sum([sidecars, ...containers.map((container) => containerRequests(container, least))]);
  return largest(running, largestStart);
}

/** Of cpu, memory and huge pages a pod may speak as a whole; then its containers' requests are parts of that. */
function podNeeds({ resources }: PodSpec & HasPodResources): Resources {
  if (resources === undefined) return nothing;
  return new Map([...parseResources(resources.limits), ...parseResources(resources.requests)]);
}

/** A limit without a request is a request too. */
function containerRequests({ resources }: Container, least: Resources): Resources {
  return new Map([...least, ...parseResources(resources?.limits), ...parseResources(resources?.requests)]);
}

export function allocatableOf({ status }: Node): Resources {
  return parseResources(status?.allocatable ?? status?.capacity);
}

function sum(parts: readonly Resources[]): Resources {
  const total = new Map<string, number>();
  for (const part of parts) for (const [name, amount] of part) total.set(name, (total.get(name) ?? 0) + amount);
  return total;
}

function largest(a: Resources, b: Resources): Resources {
  const result = new Map(a);
  for (const [name, amount] of b) result.set(name, Math.max(amount, result.get(name) ?? 0));
  return result;
}

function parseResources(list: Amounts | undefined): Resources {
  const parsed = new Map<string, number>();
  for (const [name, text] of Object.entries(list ?? {})) {
    if (text === undefined) continue;
    parsed.set(name, roundedUp(parseQuantity(text).nano, name === 'cpu' ? nanoPerThousandth : nanoPerUnit));
  }
  return parsed;
}

const nanoPerThousandth = 10n ** 6n;
const nanoPerUnit = 10n ** 9n;

/** Whole numbers: what is added and taken away again must leave nothing behind. */
function roundedUp(nano: bigint, unit: bigint): number {
  return Number((nano + unit - 1n) / unit);
}
