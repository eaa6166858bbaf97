import type { Client } from '@castellan/client';
import { isStatusError, type ObjectKey, type Secret, secrets } from '@castellan/machinery';
import type { World } from '@castellan/world';
import type { Log } from '../controller.js';
import { errorMessage } from '../error-message.js';
import type { WebhookObserver } from '../observe/webhook-observer.js';
import { certificatesOf, secretData } from './certificate-secret.js';
import {
  bundleOf,
  type CertificateDemands,
  renewedCertificates,
  type WebhookCertificates,
} from './renewed-certificates.js';

export interface CertificateKeeperOptions {
  readonly client: Client;
  readonly world: World;
  readonly log: Log;
  /** The Secret. */
  readonly secret: Required<ObjectKey>;
  /** Whether this process may write: of several, the one that holds the lease. */
  readonly isLeader: () => boolean;
  readonly demands: Pick<CertificateDemands, 'names' | 'addresses' | 'authorityLifetimeMs' | 'certificateLifetimeMs'>;
  /** How long a new authority is made known before it signs what is served. */
  readonly overlapMs: number;
  /** Between two looks at the Secret. */
  readonly everyMs: number;
  /** Told of certificates that are new to this process. */
  readonly serve: (certificates: WebhookCertificates) => Promise<void>;
  /** Tells the API server of the authorities; only where this process leads. Writes nothing where nothing has changed. */
  readonly distribute: (bundle: string) => Promise<void>;
  readonly observer?: Pick<WebhookObserver, 'certificateRead'>;
}

const retryMs = 1_000;

/**
 * Keeps certificates in a Secret, which all processes serve with and one of them writes. A new authority is distributed
 * for `overlapMs` before a certificate of it is served.
 */
export class CertificateKeeper {
  readonly #options: CertificateKeeperOptions;
  #served: WebhookCertificates | undefined;
  /** What was distributed last, and since when. */
  #distributed: { readonly bundle: string; readonly sinceMs: number } | undefined;
  #lastProblem = '';

  constructor(options: CertificateKeeperOptions) {
    this.#options = options;
  }

  /** Goes on until `signal` aborts; failures are logged and tried again. `onTurn` hears of each turn, and whether there is now something to serve with. */
  async run(onTurn: (isDone: boolean) => void, signal: AbortSignal): Promise<void> {
    const { world, everyMs, log } = this.#options;
    while (!signal.aborted) {
      let isDone = false;
      try {
        isDone = await this.#turn(signal);
        this.#lastProblem = '';
      } catch (error) {
        if (signal.aborted) return;
        const problem = errorMessage(error);
        if (problem !== this.#lastProblem) log.warn(`webhooks: ${problem}; tried again every second`);
        this.#lastProblem = problem;
      }
      onTurn(isDone);
      await world.clock.sleep(isDone ? everyMs : retryMs, signal).catch(() => undefined);
    }
  }

  /** False while there is nothing to serve with, as the leader has not written it yet. */
  async #turn(signal: AbortSignal): Promise<boolean> {
    const { client, secret, isLeader, observer } = this.#options;
    const found = await client.find(secrets, secret, { signal });
    let certificates = found === undefined ? undefined : certificatesOf(found);
    if (found !== undefined) observer?.certificateRead?.(certificates !== undefined);
    if (isLeader()) certificates = await this.#renew(certificates, found, signal);
    if (certificates === undefined) return false;
    if (
      bundleOf(certificates) !== this.#bundleServed() ||
      certificates.serving.certificate !== this.#served?.serving.certificate
    ) {
      await this.#options.serve(certificates);
      this.#served = certificates;
    }
    if (isLeader()) await this.#distribute(bundleOf(certificates));
    return true;
  }

  #bundleServed(): string {
    return this.#served === undefined ? '' : bundleOf(this.#served);
  }

  async #renew(
    kept: WebhookCertificates | undefined,
    found: Secret | undefined,
    signal: AbortSignal,
  ): Promise<WebhookCertificates | undefined> {
    const { client, world, demands, secret, log } = this.#options;
    // A Secret that was removed or spoilt is written anew with what API servers trust already.
    const known = kept ?? this.#served;
    const isNewestTrusted = known !== undefined && this.#isTrusted(bundleOf(known));
    const renewed = renewedCertificates(known, { ...demands, nowMs: world.clock.now(), isNewestTrusted });
    if (renewed === kept) return kept;
    const data = secretData(renewed);
    try {
      if (found === undefined) await client.create(secrets, { metadata: secret, type: 'Opaque', data }, { signal });
      else await client.update(secrets, { ...found, data }, { signal });
    } catch (error) {
      // Another process was first: what it wrote is read in the next turn.
      if (isStatusError(error, 'AlreadyExists', 'Conflict')) return kept;
      throw error;
    }
    log.info(`webhooks: certificates renewed in the Secret ${secret.namespace}/${secret.name}`, {
      authorities: renewed.authorities.length,
    });
    return renewed;
  }

  #isTrusted(bundle: string): boolean {
    const { world, overlapMs } = this.#options;
    if (this.#distributed?.bundle !== bundle) return false;
    return world.clock.monotonicNow() - this.#distributed.sinceMs >= overlapMs;
  }

  async #distribute(bundle: string): Promise<void> {
    await this.#options.distribute(bundle);
    if (this.#distributed?.bundle === bundle) return;
    this.#distributed = { bundle, sinceMs: this.#options.world.clock.monotonicNow() };
  }
}
