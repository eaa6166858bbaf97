import { type Container, type Node, type Pod, parseQuantity, quantityToNumber } from '@castellan/machinery';

/** Amounts by resource name: `cpu` in thousandths of a core, all else (bytes, pieces) in units. */
export type Resources = ReadonlyMap<string, number>;

/** Pods of a cache are frozen, and each choice reads the requests of all of them. */
const knownRequests = new WeakMap<Pod, Resources>();

/** What a pod asks for: its containers together, or its largest init container, plus its overhead, and one pod. */
export function requestsOf(pod: Pod): Resources {
  const known = knownRequests.get(pod);
  if (known !== undefined) return known;
  const requests = countRequests(pod);
  knownRequests.set(pod, requests);
  return requests;
}

function countRequests({ spec }: Pod): Resources {
  const init = spec?.initContainers ?? [];
  const sidecars = sum(init.filter(isSidecar).map(containerRequests));
  const whileRunning = sum([sidecars, ...(spec?.containers ?? []).map(containerRequests)]);
  const whileStarting = init
    .filter((container) => !isSidecar(container))
    .map((container) => {
      return sum([sidecars, containerRequests(container)]);
    });
  const needed = whileStarting.reduce(largest, whileRunning);
  return sum([needed, parseResources(spec?.overhead), new Map([['pods', 1]])]);
}

export function allocatableOf({ status }: Node): Resources {
  return parseResources(status?.allocatable ?? status?.capacity);
}

export function sum(parts: readonly Resources[]): Resources {
  const total = new Map<string, number>();
  for (const part of parts) for (const [name, amount] of part) total.set(name, (total.get(name) ?? 0) + amount);
  return total;
}

function largest(a: Resources, b: Resources): Resources {
  const result = new Map(a);
  for (const [name, amount] of b) result.set(name, Math.max(amount, result.get(name) ?? 0));
  return result;
}

function isSidecar(container: Container): boolean {
  return container.restartPolicy === 'Always';
}

/** A limit without a request is a request too. */
function containerRequests({ resources }: Container): Resources {
  return new Map([...parseResources(resources?.limits), ...parseResources(resources?.requests)]);
}

function parseResources(list: Readonly<Record<string, string | undefined>> | undefined): Resources {
  const parsed = new Map<string, number>();
  for (const [name, text] of Object.entries(list ?? {})) {
    if (text === undefined) continue;
    const amount = quantityToNumber(parseQuantity(text));
    parsed.set(name, name === 'cpu' ? amount * 1000 : amount);
  }
  return parsed;
}
