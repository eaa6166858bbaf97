import { StatusError } from '@castellan/machinery';
import { badRequest } from '../errors.js';
import { type ApiObject, at, count, records, text } from '../json.js';
import { getObject } from '../registry/read.js';
import type { KnownExchange } from '../request/exchange.js';
import type { Server } from '../request/server.js';

/** A port of a pod that a proxied request goes to. */
export interface ProxyTarget {
  readonly pod: string;
  /** Where the pod runs. */
  readonly node: string;
  readonly port: number;
  readonly isSecure: boolean;
}

const defaultPorts = { http: 80, https: 443 } as const;
/** `NAME`, `NAME:PORT` or `SCHEME:NAME:PORT`. */
const form = /^(?:(https?):)?([^:]+?)(?::([^:]*))?$/;

/** What the name in pods/NAME/proxy or services/NAME/proxy stands for. Fails in upstream's words. */
export async function proxyTarget(server: Server, exchange: KnownExchange): Promise<ProxyTarget> {
  const { info, resource } = exchange;
  const id = info.name ?? '';
  const [, scheme, name, port = ''] = form.exec(id) ?? [];
  const isPod = info.plural === 'pods';
  if (name === undefined) throw badRequest(`invalid ${isPod ? 'pod' : 'service'} request ${JSON.stringify(id)}`);
  const found = await getObject(resource, info.namespace, name);
  const isSecure = scheme === 'https';
  const target = isPod
    ? {
        pod: name,
        node: text(at(found, 'spec', 'nodeName')) ?? '',
        port: podPort(found, port) ?? defaultPorts[isSecure ? 'https' : 'http'],
      }
    : await endpointOf(server, found, { id, name, port, namespace: info.namespace ?? '' });
  return { ...target, isSecure };
}

/** A number, or else the first port that a container declares. */
function podPort(pod: ApiObject, port: string): number | undefined {
  if (/^\d+$/.test(port)) return Number(port);
  if (port !== '') throw badRequest(`invalid pod port ${JSON.stringify(port)}: a number is needed`);
  const declared = records(at(pod, 'spec', 'containers')).flatMap(({ ports }) => records(ports));
  return count(declared[0]?.containerPort);
}

/** One of the service's ready endpoints, by chance. */
async function endpointOf(
  server: Server,
  service: ApiObject,
  asked: { readonly id: string; readonly name: string; readonly port: string; readonly namespace: string },
): Promise<Omit<ProxyTarget, 'isSecure'>> {
  const portName = servicePortName(service, asked);
  const { store } = server.registry.builtin('discovery.k8s.io', 'v1', 'endpointslices');
  await store.cache.fresh();
  const found = store.cache
    .list(`${store.layout.prefix}${asked.namespace}/`)
    .filter(({ object }) => object.metadata.labels?.['kubernetes.io/service-name'] === asked.name)
    .flatMap(({ object }) => {
      const port = records(object.ports).find((each) => (text(each.name) ?? '') === portName);
      const number = count(port?.port);
      const ready = records(object.endpoints).filter((endpoint) => at(endpoint, 'conditions', 'ready') !== false);
      return ready.flatMap((endpoint) => {
        const pod = text(at(endpoint, 'targetRef', 'name'));
        const node = text(endpoint.nodeName) ?? '';
        return pod === undefined || number === undefined ? [] : [{ pod, node, port: number }];
      });
    });
  const chosen = found[Math.floor(server.world.random.next() * found.length)];
  if (chosen !== undefined) return chosen;
  throw StatusError.of('ServiceUnavailable', `no endpoints available for service ${JSON.stringify(asked.id)}`);
}

/** A port may be asked for by number or name, and not at all where there is one. */
function servicePortName(service: ApiObject, { name, port }: { readonly name: string; readonly port: string }): string {
  const ports = records(at(service, 'spec', 'ports'));
  if (port === '' && ports.length === 1) return text(ports[0]?.name) ?? '';
  if (!/^\d+$/.test(port)) return port;
  const numbered = ports.find((each) => count(each.port) === Number(port));
  if (numbered !== undefined) return text(numbered.name) ?? '';
  throw StatusError.of('ServiceUnavailable', `no service port ${port} found for service ${JSON.stringify(name)}`);
}
