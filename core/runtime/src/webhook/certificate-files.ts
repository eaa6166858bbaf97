import { readFile } from 'node:fs/promises';
import type { KeyedCertificate } from '@castellan/certificates';
import type { World } from '@castellan/world';
import type { Log } from '../controller.js';
import { errorMessage } from '../error-message.js';
import type { WebhookObserver } from '../observe/webhook-observer.js';
import { isPair } from './renewed-certificates.js';

export interface CertificateFilesOptions {
  readonly world: World;
  readonly log: Log;
  /** Paths of PEM files, such as a mounted Secret of type kubernetes.io/tls has. */
  readonly certificatePath: string;
  readonly keyPath: string;
  /** Between two looks; 5 s unless told. */
  readonly everyMs?: number;
  readonly observer?: Pick<WebhookObserver, 'certificateRead'>;
}

/**
 * A certificate and its key that somebody else keeps in files. They are read again and again, whichever way they are
 * changed: written, renamed over, moved away and back, or behind a link. While what is there is of no use (half written, a key that
 * is not the certificate's, nothing), what was there before stays in use.
 */
export class CertificateFiles {
  readonly #options: CertificateFilesOptions;
  #current: KeyedCertificate | undefined;
  #lastProblem = '';

  constructor(options: CertificateFilesOptions) {
    this.#options = options;
  }

  /** @throws Error saying what is wrong with the files: there is nothing else to use at first. */
  async read(): Promise<KeyedCertificate> {
    const { observer } = this.#options;
    try {
      this.#current = await this.#pair();
      observer?.certificateRead?.(true);
      return this.#current;
    } catch (error) {
      observer?.certificateRead?.(false);
      throw error;
    }
  }

  async #pair(): Promise<KeyedCertificate> {
    const { certificatePath, keyPath } = this.#options;
    const [certificate, key] = await Promise.all([readFile(certificatePath, 'utf8'), readFile(keyPath, 'utf8')]);
    if (!isPair({ certificate, key })) {
      throw new Error(`${certificatePath} and ${keyPath} are not a certificate and its key in PEM`);
    }
    return { certificate, key };
  }

  /** Until `signal` aborts; `onChange` hears of each pair that differs from the one before. */
  async follow(onChange: (changed: KeyedCertificate) => void, signal: AbortSignal): Promise<void> {
    const { world, log, everyMs = 5_000 } = this.#options;
    while (!signal.aborted) {
      await world.clock.sleep(everyMs, signal).catch(() => undefined);
      if (signal.aborted) return;
      const before = this.#current;
      try {
        const { certificate, key } = await this.read();
        if (certificate !== before?.certificate || key !== before.key) {
          log.info('webhooks: the certificate was changed');
          onChange({ certificate, key });
        }
        this.#lastProblem = '';
      } catch (error) {
        const problem = errorMessage(error);
        if (problem !== this.#lastProblem) log.warn(`webhooks: the certificate before is kept: ${problem}`);
        this.#lastProblem = problem;
      }
    }
  }
}
