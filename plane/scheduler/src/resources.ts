import type { Container, Node, Pod } from '@castellan/machinery';

/** Amounts by resource name: `cpu` in thousandths of a core, all else (bytes, pieces) in units. */
export type Resources = ReadonlyMap<string, number>;

/** What a pod asks for: its containers together, or its largest init container, plus its overhead, and one pod. */
export function requestsOf({ spec }: Pod): Resources {
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
    const amount = parseQuantity(String(text));
    parsed.set(name, name === 'cpu' ? amount * 1000 : amount);
  }
  return parsed;
}

const suffixes: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

/** A Kubernetes quantity as a number; exact enough to compare what machines have. The API server refused malformed ones. */
export function parseQuantity(text: string): number {
  const match = /^([+-]?[\d.]+)(?:([eE][+-]?\d+)|([numkMGTPE]|[KMGTPE]i)?)$/.exec(text);
  if (match === null) return Number.NaN;
  const [, digits = '', exponent = '', suffix = ''] = match;
  return Number(`${digits}${exponent}`) * (suffixes[suffix] ?? Number.NaN);
}
