import { fieldError, invalidError } from '@castellan/machinery';
import { internalError } from '../errors.js';
import type { ApiObject, JsonRecord } from '../json.js';
import type { WriteContext, WriteOutcome } from '../registry/strategy.js';
import type { NodePorts } from './node-ports.js';
import type { ServiceAddresses } from './service-addresses.js';
import { addressOfService, nodePortOf, nodePortsOf, ownerOf, serviceFields } from './service-fields.js';

/** The service `namespace/name`, where it is there. */
export type FindService = (owner: string) => Promise<ApiObject | undefined>;

interface Taken {
  readonly owner: string;
  readonly addresses: string[];
  readonly ports: number[];
}

/** Gives services their addresses and ports, and takes back what a write did not use after all. */
export class ServiceAllocation {
  readonly #addresses: ServiceAddresses;
  readonly #ports: NodePorts;
  readonly #find: FindService;
  /** What each request under way has taken. */
  readonly #taken = new WeakMap<WriteContext, Taken>();

  constructor(options: {
    readonly addresses: ServiceAddresses;
    readonly ports: NodePorts;
    readonly findService: FindService;
  }) {
    this.#addresses = options.addresses;
    this.#ports = options.ports;
    this.#find = options.findService;
  }

  async withAddress(service: ApiObject, context: WriteContext): Promise<ApiObject> {
    const { spec, needsAddress, isHeadless, clusterIP, clusterIPs } = serviceFields(service);
    if (!needsAddress || isHeadless) return service;
    const owner = ownerOf(service);
    const taken = this.#takenBy(context, owner);
    if (clusterIP === '') {
      const address = context.isDryRun
        ? this.#addresses.first
        : await this.#addresses.holdAny(owner, (other, name) => this.#hasAddress(other, name));
      if (address === undefined) throw internalError('failed to allocate a serviceIP: range is full');
      if (!context.isDryRun) taken.addresses.push(address);
      return { ...service, spec: { ...spec, clusterIP: address, clusterIPs: [address] } };
    }
    if (taken.addresses.includes(clusterIP)) return service;
    const problem = await this.#addresses.hold(clusterIP, owner, context.isDryRun);
    if (problem !== undefined) {
      const text = `failed to allocate IP ${clusterIP}: ${problem}`;
      throw refused(service, 'spec.clusterIPs', clusterIPs, text);
    }
    if (!context.isDryRun) taken.addresses.push(clusterIP);
    return service;
  }

  /** Ports of equal number share one port of the nodes: TCP and UDP of the same service. */
  async withNewPorts(service: ApiObject, context: WriteContext): Promise<ApiObject> {
    const { spec, mayHaveNodePorts, wantsNodePorts, ports } = serviceFields(service);
    if (!mayHaveNodePorts) return service;
    const chosen = new Map<unknown, number>();
    const next: JsonRecord[] = [];
    for (const [index, port] of ports.entries()) {
      const own = nodePortOf(port);
      if (own === 0 && !wantsNodePorts) {
        next.push(port);
        continue;
      }
      const shared = chosen.get(port.port);
      const asked = ports.find((other) => other.port === port.port && nodePortOf(other) > 0);
      const wanted = shared === undefined ? (asked === undefined ? 0 : nodePortOf(asked)) : own;
      const isShared = shared !== undefined && (own === 0 || own === shared);
      const nodePort = isShared ? shared : await this.#holdPort(service, wanted, index, context);
      if (shared === undefined) chosen.set(port.port, nodePort);
      next.push({ ...port, nodePort: own === 0 ? nodePort : own });
    }
    return { ...service, spec: { ...spec, ...(spec.ports === undefined ? {} : { ports: next }) } };
  }

  /** The ports that `current` has stay; others are taken. */
  async withChangedPorts(service: ApiObject, current: ApiObject, context: WriteContext): Promise<ApiObject> {
    const { spec, mayHaveNodePorts, wantsNodePorts, ports } = serviceFields(service);
    if (!mayHaveNodePorts) return service;
    const known = new Set(serviceFields(current).ports.map(nodePortOf));
    const next: JsonRecord[] = [];
    for (const [index, port] of ports.entries()) {
      const own = nodePortOf(port);
      if ((own === 0 && !wantsNodePorts) || (own !== 0 && known.has(own))) {
        next.push(port);
        continue;
      }
      const nodePort = await this.#holdPort(service, own, index, context);
      known.add(nodePort);
      next.push({ ...port, nodePort });
    }
    return { ...service, spec: { ...spec, ...(spec.ports === undefined ? {} : { ports: next }) } };
  }

  async withHealthCheckPort(service: ApiObject, context: WriteContext): Promise<ApiObject> {
    const { spec, needsHealthCheckPort, healthCheckNodePort } = serviceFields(service);
    if (!needsHealthCheckPort) return service;
    const taken = this.#takenBy(context, ownerOf(service));
    if (healthCheckNodePort === 0) {
      return { ...service, spec: { ...spec, healthCheckNodePort: await this.#anyPort(service, context) } };
    }
    if (taken.ports.includes(healthCheckNodePort)) return service;
    const problem = await this.#ports.hold(healthCheckNodePort, ownerOf(service), context.isDryRun);
    if (problem !== undefined) {
      throw internalError(`failed to allocate requested HealthCheck NodePort ${healthCheckNodePort}: ${problem}`);
    }
    if (!context.isDryRun) taken.ports.push(healthCheckNodePort);
    return service;
  }

  async settle({ before, after }: WriteOutcome, context: WriteContext): Promise<void> {
    const taken = this.#taken.get(context);
    this.#taken.delete(context);
    const stored = before ?? after;
    const owner = taken?.owner ?? (stored === undefined ? '' : ownerOf(stored));
    const lost = before === undefined ? undefined : addressOfService(before);
    const kept = after === undefined ? undefined : addressOfService(after);
    const keptPorts = after === undefined ? [] : nodePortsOf(after);
    const addresses = [...(taken?.addresses ?? []), ...(lost === undefined ? [] : [lost])];
    const ports = [...(taken?.ports ?? []), ...(before === undefined ? [] : nodePortsOf(before))];
    for (const address of addresses) if (address !== kept) await this.#addresses.release(address, owner);
    for (const port of ports) if (!keptPorts.includes(port)) await this.#ports.release(port, owner);
  }

  /** Makes what is held what `services` have: a server that was killed may have left it otherwise. */
  async repair(services: readonly ApiObject[]): Promise<void> {
    const byOwner = new Map(services.map((service) => [ownerOf(service), service] as const));
    const addresses = new Map<string, string>();
    for (const [owner, service] of byOwner) {
      const address = addressOfService(service);
      if (address !== undefined) addresses.set(owner, address);
    }
    const ports = services.flatMap((service) => nodePortsOf(service).map((port) => [ownerOf(service), port] as const));
    await this.#addresses.repair((owner, name) => this.#hasAddress(owner, name), addresses);
    await this.#ports.repair((owner, name) => this.#hasPort(owner, name), ports);
  }

  async #holdPort(service: ApiObject, wanted: number, index: number, context: WriteContext): Promise<number> {
    if (wanted === 0) return this.#anyPort(service, context);
    const taken = this.#takenBy(context, ownerOf(service));
    if (taken.ports.includes(wanted)) return wanted;
    const problem = await this.#ports.hold(wanted, taken.owner, context.isDryRun);
    if (problem !== undefined) throw refused(service, `spec.ports[${index}].nodePort`, wanted, problem);
    if (!context.isDryRun) taken.ports.push(wanted);
    return wanted;
  }

  async #anyPort(service: ApiObject, context: WriteContext): Promise<number> {
    if (context.isDryRun) return this.#ports.random();
    const taken = this.#takenBy(context, ownerOf(service));
    const port = await this.#ports.holdAny(taken.owner, (owner, name) => this.#hasPort(owner, name));
    if (port === undefined) throw internalError('failed to allocate a nodePort: range is full');
    taken.ports.push(port);
    return port;
  }

  async #hasAddress(owner: string, name: string): Promise<boolean> {
    const service = await this.#find(owner);
    return service !== undefined && addressOfService(service) === name;
  }

  async #hasPort(owner: string, name: string): Promise<boolean> {
    const service = await this.#find(owner);
    return service !== undefined && nodePortsOf(service).includes(Number(name));
  }

  #takenBy(context: WriteContext, owner: string): Taken {
    const known = this.#taken.get(context);
    if (known !== undefined) return known;
    const taken = { owner, addresses: [], ports: [] };
    this.#taken.set(context, taken);
    return taken;
  }
}

function refused(service: ApiObject, path: string, value: unknown, problem: string) {
  return invalidError({ group: '', kind: 'Service' }, service.metadata.name ?? '', [
    fieldError.invalid(path, value, problem),
  ]);
}
