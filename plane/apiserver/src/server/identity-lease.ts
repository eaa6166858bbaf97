import { createHash } from 'node:crypto';
import { StatusError } from '@castellan/machinery';
import type { Cancel, World } from '@castellan/world';
import { type ApiObject, at, count, text } from '../json.js';
import { deleteObject } from '../registry/delete.js';
import type { Resource } from '../registry/resource.js';
import { updateObject, type WriteTools } from '../registry/write.js';

const namespace = 'kube-system';
const identityLabel = 'apiserver.kubernetes.io/identity';
const leaseSeconds = 3600;
const renewEveryMs = 10_000;
/** Leases of servers that have ended are looked for at the first renewal, and once an hour. */
const renewalsPerSweep = leaseSeconds / (renewEveryMs / 1000);

export interface IdentityLeaseOptions {
  readonly leases: Resource;
  readonly world: World;
  readonly tools: WriteTools;
  /** Tells this server from all others over the same storage, in each of its runs. */
  readonly identity: string;
  readonly hostName: string;
  readonly onFailure: (error: unknown) => void;
}

/**
 * A Lease by which others see that this API server is there, as kube-apiserver has one (KEP-1965). An hour after its last
 * renewal the other servers remove it.
 */
export class IdentityLease {
  private readonly options: IdentityLeaseOptions;
  private readonly name: string;
  private readonly holder: string;
  private renewals = 0;
  private cancel: Cancel | undefined;
  private renewing: Promise<void> = Promise.resolve();
  private isStopped = false;

  constructor(options: IdentityLeaseOptions) {
    this.options = options;
    const hash = createHash('sha256').update(options.identity).digest('hex');
    this.name = `apiserver-${hash.slice(0, 26)}`;
    this.holder = `${this.name}_${options.world.random.uuid()}`;
  }

  start(): void {
    this.renewing = this.renew();
  }

  /** Resolves when nothing is written any more. The lease stays, as upstream: a restart takes it again. */
  async stop(): Promise<void> {
    this.isStopped = true;
    this.cancel?.();
    await this.renewing;
  }

  private async renew(): Promise<void> {
    const { leases, tools, world, onFailure } = this.options;
    try {
      const object = this.object();
      const change = (current: ApiObject) => ({ ...current, spec: object.spec });
      const request = { namespace, name: this.name, subresource: '', change, createInstead: () => object };
      await updateObject(leases, { ...request, isReplacement: false }, tools);
      if (this.renewals % renewalsPerSweep === 0) await this.sweep();
      this.renewals += 1;
    } catch (error) {
      onFailure(error);
    }
    if (this.isStopped) return;
    this.cancel = world.clock.after(renewEveryMs, () => {
      this.renewing = this.renew();
    });
  }

  private object(): ApiObject {
    const labels = { [identityLabel]: 'kube-apiserver', 'kubernetes.io/hostname': this.options.hostName };
    const renewTime = microTime(this.options.world.clock.now());
    return {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { namespace, name: this.name, labels },
      spec: { holderIdentity: this.holder, leaseDurationSeconds: leaseSeconds, renewTime },
    };
  }

  private async sweep(): Promise<void> {
    const { leases, tools, world } = this.options;
    const { store } = leases;
    await store.cache.fresh();
    for (const { object } of store.cache.list(`${store.layout.prefix}${namespace}/`)) {
      const { name = '', labels, resourceVersion = '' } = object.metadata;
      const renewedMs = Date.parse(text(at(object, 'spec', 'renewTime')) ?? '');
      const seconds = count(at(object, 'spec', 'leaseDurationSeconds')) ?? 0;
      if (labels?.[identityLabel] === undefined || !(renewedMs + seconds * 1000 < world.clock.now())) continue;
      const options = { preconditions: { resourceVersion } };
      await deleteObject(leases, { namespace, name }, options, tools.context).catch((error: unknown) => {
        // Another server was faster, or the lease's own is back.
        if (!(error instanceof StatusError && ['NotFound', 'Conflict'].includes(error.reason ?? ''))) throw error;
      });
    }
  }
}

/** metav1.MicroTime */
function microTime(epochMs: number): string {
  return new Date(epochMs).toISOString().replace('Z', '000Z');
}
