import { type Keyspace, type LeaseId, LeaseNotFoundError, prefixRange } from '@castellan/keyspace';
import { StatusError } from '@castellan/machinery';
import type { Cancel, World } from '@castellan/world';
import { type ApiObject, count, isRecord, text } from '../json.js';
import { deleteObject } from '../registry/delete.js';
import type { Resource } from '../registry/resource.js';
import { updateObject, type WriteTools } from '../registry/write.js';
import {
  endpointSlicesOf,
  endpointsOf,
  ownNamespace,
  ownService,
  type ServerAddress,
  serviceNameLabel,
} from './advertised-endpoints.js';

/** Beside `/registry`: no kind of object is here. One key for each server that runs, on a lease of the keyspace. */
const registrations = '/castellan/apiservers/';
/** Of kube-apiserver's lease reconciler (DefaultEndpointReconcilerTTL, DefaultEndpointReconcilerInterval). */
const registrationSeconds = 15;
const reconcileEveryMs = 10_000;
/** The first time not while somebody waits for the start. */
const startDelayMs = 1000;

export interface EndpointReconcilerOptions {
  readonly keyspace: Keyspace;
  readonly endpoints: Resource;
  readonly endpointSlices: Resource;
  readonly world: World;
  readonly tools: WriteTools;
  readonly onFailure: (error: unknown) => void;
}

/**
 * Keeps the endpoints of service default/kubernetes: the addresses of all API servers over this keyspace that run. Each one
 * registers itself and writes what all have registered. The registration of one that is killed ends by itself.
 */
export class EndpointReconciler {
  private readonly options: EndpointReconcilerOptions;
  private lease: LeaseId | undefined;
  private cancel: Cancel | undefined;
  private work: Promise<void> = Promise.resolve();
  private isStopped = false;

  constructor(options: EndpointReconcilerOptions) {
    this.options = options;
  }

  start(own: ServerAddress): void {
    this.again(own, startDelayMs);
  }

  /** Takes this server out, unless it is the last one. Resolves when nothing is written any more. */
  async stop(): Promise<void> {
    this.isStopped = true;
    this.cancel?.();
    await this.work;
    if (this.lease === undefined) return;
    try {
      await this.options.keyspace.revokeLease(this.lease);
      await this.reconcile();
    } catch (error) {
      this.options.onFailure(error);
    }
  }

  private again(own: ServerAddress, delayMs: number): void {
    if (this.isStopped) return;
    this.cancel = this.options.world.clock.after(delayMs, () => {
      this.work = this.register(own)
        .then(() => this.reconcile())
        .catch(this.options.onFailure)
        .then(() => this.again(own, reconcileEveryMs));
    });
  }

  private async register(own: ServerAddress): Promise<void> {
    const { keyspace } = this.options;
    if (this.lease !== undefined) {
      try {
        await keyspace.keepLeaseAlive(this.lease);
        return;
      } catch (error) {
        // It ended while this process slept, or could not reach the storage.
        if (!(error instanceof LeaseNotFoundError)) throw error;
      }
    }
    const lease = await keyspace.grantLease(registrationSeconds);
    // No two servers, and no two runs of one, have a key in common: none ends the registration of another.
    await keyspace.put(registrations + lease, Buffer.from(JSON.stringify(own)), { ifRevision: 0, lease });
    this.lease = lease;
  }

  private async reconcile(): Promise<void> {
    const { keyspace, endpoints, endpointSlices } = this.options;
    const { keyValues } = await keyspace.range(prefixRange(registrations));
    const servers = keyValues.flatMap(({ value }) => parse(value));
    // Clients that hold on to the last address find the server there when it is started again.
    if (servers.length === 0) return;
    await this.write(endpoints, endpointsOf(servers), ['subsets']);
    const slices = endpointSlicesOf(servers);
    for (const slice of slices) await this.write(endpointSlices, slice, ['endpoints', 'ports']);
    await this.removeOthers(new Set(slices.map(({ metadata }) => metadata.name)));
  }

  private async write(resource: Resource, wanted: ApiObject, fields: readonly string[]): Promise<void> {
    const request = {
      namespace: ownNamespace,
      name: wanted.metadata.name ?? '',
      subresource: '',
      isReplacement: false,
      change: (current: ApiObject): ApiObject => ({
        ...current,
        ...Object.fromEntries(fields.map((field) => [field, wanted[field]])),
        metadata: { ...current.metadata, labels: { ...current.metadata.labels, ...wanted.metadata.labels } },
      }),
      createInstead: () => wanted,
    };
    await updateObject(resource, request, this.options.tools).catch((error: unknown) =>
      // Another server wrote it meanwhile: what is missing of ours is written the next time.
      ignore(error, 'AlreadyExists', 'Conflict'),
    );
  }

  /** Slices of ports that no server has any more. */
  private async removeOthers(wanted: ReadonlySet<string | undefined>): Promise<void> {
    const { endpointSlices, keyspace, tools } = this.options;
    const { layout, storage } = endpointSlices.store;
    const namespacePrefix = `${layout.prefix}${ownNamespace}/`;
    const { keyValues } = await keyspace.range(prefixRange(`${namespacePrefix}${ownService}-`));
    for (const { key } of keyValues) {
      const name = key.slice(namespacePrefix.length);
      if (wanted.has(name) || !/-\d+$/.test(name)) continue;
      const slice = await storage.get(key);
      if (slice?.metadata.labels?.[serviceNameLabel] !== ownService) continue;
      await deleteObject(endpointSlices, { namespace: ownNamespace, name }, {}, tools.context).catch((error: unknown) =>
        ignore(error, 'NotFound', 'Conflict'),
      );
    }
  }
}

function parse(value: Uint8Array): readonly ServerAddress[] {
  const parsed: unknown = JSON.parse(Buffer.from(value).toString('utf8'));
  if (!isRecord(parsed)) return [];
  const address = text(parsed['address']);
  const port = count(parsed['port']);
  return address === undefined || port === undefined ? [] : [{ address, port }];
}

function ignore(error: unknown, ...reasons: readonly string[]): void {
  if (!(error instanceof StatusError && reasons.includes(error.reason ?? ''))) throw error;
}
