import type { BackendPort } from './service-backends.js';
import type { ServiceTable } from './service-table.js';

export interface ServiceLinks {
  /** Of the pod. */
  readonly namespace: string;
  /** `enableServiceLinks`: those of its namespace too, and not only service `kubernetes`. */
  readonly isLinked: boolean;
}

/**
 * Addresses of services as kubelet puts them into the environment: REDIS_SERVICE_HOST and REDIS_SERVICE_PORT, the same for each named port, and
 * the older form of Docker's links. Services that were made after the pod's start are not in it.
 */
export function serviceEnvironment(
  table: ServiceTable,
  { namespace, isLinked }: ServiceLinks,
): Readonly<Record<string, string>> {
  const kubernetes = table.find('default', 'kubernetes');
  const own = isLinked ? table.inNamespace(namespace) : [];
  const all = kubernetes === undefined || own.includes(kubernetes) ? own : [kubernetes, ...own];
  return Object.fromEntries(
    all.flatMap(({ name, clusterIp, ports }) => {
      const [first] = ports;
      if (clusterIp === undefined || first === undefined) return [];
      const prefix = variableName(name);
      return [
        [`${prefix}_SERVICE_HOST`, clusterIp],
        [`${prefix}_SERVICE_PORT`, String(first.port)],
        ...ports.flatMap(({ name: of, port }) =>
          of === undefined || of === '' ? [] : [[`${prefix}_SERVICE_PORT_${variableName(of)}`, String(port)]],
        ),
        [`${prefix}_PORT`, urlOf(clusterIp, first)],
        ...ports.flatMap((port) => linkOf(prefix, clusterIp, port)),
      ];
    }),
  );
}

function linkOf(prefix: string, address: string, port: BackendPort): readonly (readonly [string, string])[] {
  const link = `${prefix}_PORT_${port.port}_${port.protocol}`;
  return [
    [link, urlOf(address, port)],
    [`${link}_PROTO`, port.protocol.toLowerCase()],
    [`${link}_PORT`, String(port.port)],
    [`${link}_ADDR`, address],
  ];
}

function urlOf(address: string, { protocol, port }: BackendPort): string {
  return `${protocol.toLowerCase()}://${address}:${port}`;
}

function variableName(name: string): string {
  return name.toUpperCase().replaceAll('-', '_');
}
