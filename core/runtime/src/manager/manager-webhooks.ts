import type { MountedCertificates, OwnCertificates, WebhooksOptions } from '../webhook/create-webhooks.js';

/** Webhooks that a manager runs: it gives them what it has itself, and says whether they lead. */
export interface ManagerWebhooks
  extends Omit<WebhooksOptions, 'client' | 'world' | 'log' | 'observer' | 'certificates'> {
  readonly certificates: Omit<OwnCertificates, 'isLeader'> | MountedCertificates;
}
