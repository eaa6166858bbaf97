import { isIP } from 'node:net';
import type { Client } from '@castellan/client';
import { type Kind, keyOf, type ObjectKey } from '@castellan/machinery';
import type { World } from '@castellan/world';
import type { Log } from '../controller.js';
import { deferred } from '../deferred.js';
import type { WebhookObserver } from '../observe/webhook-observer.js';
import { untilEstablished } from '../operator/install-kinds.js';
import { ApplyMemory, applyObject } from '../write/apply-object.js';
import { mutationReview, validationReview } from './admission-review.js';
import { CertificateFiles } from './certificate-files.js';
import { CertificateKeeper } from './certificate-keeper.js';
import { conversionReview } from './conversion-review.js';
import { paths, type Registration, registrationsOf, type WebhookAddress } from './registrations.js';
import type { Webhook } from './webhook.js';
import { type ReviewHandler, WebhookServer } from './webhook-server.js';

export interface WebhooksOptions {
  readonly client: Client;
  readonly world: World;
  readonly log: Log;
  /** In lower case, unique in the cluster: of the two configurations, and of who manages their fields. */
  readonly name: string;
  readonly webhooks?: readonly Webhook[];
  /**
   * Kinds with several versions (`withVersion`), to be converted here. A definition that is not there yet is made, with its
   * conversion. Where somebody else made it without, write objects in the kind's own version only until `ready`: an
   * API server that was told of no conversion takes those of all versions for the same.
   */
  readonly kinds?: readonly Kind[];
  /**
   * Where the API server reaches this process: by a Service that leads to `port`, or, where the API server runs on the same
   * machine, by an address of this process's own.
   */
  readonly endpoint:
    | { readonly service: { readonly name: string; readonly namespace: string; readonly port?: number } }
    | { readonly host: string };
  /** Listened on; 9443 unless told, 0 for one of the system's choice. */
  readonly port?: number;
  readonly certificates: OwnCertificates | MountedCertificates;
  /** `managerMetrics` and `spanObserver` are such; a manager gives its own. */
  readonly observer?: WebhookObserver;
}

/** Made here and kept in a Secret that all replicas share. */
export interface OwnCertificates {
  readonly secret: Required<ObjectKey>;
  /** Of several replicas only the leader writes: `() => manager.status().isLeader`. Always true unless told. */
  readonly isLeader?: () => boolean;
  /** A year unless told. */
  readonly authorityLifetimeMs?: number;
  /** 90 days unless told. */
  readonly certificateLifetimeMs?: number;
  /** How long a new authority is made known before it is used; 5 min unless told. Longer than `everyMs`. */
  readonly overlapMs?: number;
  /** Between two looks at the Secret; 10 s unless told. */
  readonly everyMs?: number;
}

/** Made and mounted by somebody else, who also tells the API server of the authority. */
export interface MountedCertificates {
  readonly certificatePath: string;
  readonly keyPath: string;
  readonly everyMs?: number;
}

export interface Webhooks {
  /** Serves until `signal` aborts. Runs once. */
  run(signal: AbortSignal): Promise<void>;
  /** Reviews are answered, and, where this process is to see to that, the API server knows where. Rejects when `run` ends before. */
  ready(): Promise<void>;
  /** The first look at the certificates is over: reviews are answered, unless the leader has still to make some. */
  begun(): Promise<void>;
}

const dayMs = 24 * 3_600_000;

/**
 * Validating, mutating and conversion webhooks of one operator, with certificates of their own making: nothing else need be
 * installed. What the API server is told is applied with a field manager of its own, so that whoever applies a definition
 * does not undo it.
 */
export function createWebhooks(options: WebhooksOptions): Webhooks {
  const { world, log, endpoint, certificates, observer, port = 9443, webhooks = [], kinds = [] } = options;
  const observed = observer === undefined ? {} : { observer };
  const server = new WebhookServer({ clock: world.clock, log, handlers: handlersOf(webhooks, kinds), ...observed });
  const isReady = deferred();
  const hasBegun = deferred();
  let listeningPort: number | undefined;
  const at = 'host' in endpoint ? { host: endpoint.host, port } : { port };
  const serve = async (serving: { readonly certificate: string; readonly key: string }): Promise<void> => {
    if (listeningPort === undefined) listeningPort = await server.listen(serving, at);
    else server.useCertificate(serving);
  };

  const runOnFiles = async (files: CertificateFiles, signal: AbortSignal): Promise<void> => {
    await serve(await files.read());
    isReady.resolve();
    hasBegun.resolve();
    await files.follow((changed) => server.useCertificate(changed), signal);
  };
  const runOnSecret = async (own: OwnCertificates, signal: AbortSignal): Promise<void> => {
    const memory = new ApplyMemory();
    const { overlapMs = 5 * 60_000, everyMs = 10_000 } = own;
    const { authorityLifetimeMs = 365 * dayMs, certificateLifetimeMs = 90 * dayMs } = own;
    if (!(everyMs < overlapMs && overlapMs < authorityLifetimeMs / 3 && certificateLifetimeMs < authorityLifetimeMs)) {
      throw new Error(
        `webhooks: everyMs (${everyMs}) must be less than overlapMs (${overlapMs}), that less than a third of authorityLifetimeMs (${authorityLifetimeMs}), and certificateLifetimeMs (${certificateLifetimeMs}) less than that`,
      );
    }
    const { names, addresses } = reachedBy(endpoint);
    const keeper = new CertificateKeeper({
      ...options,
      secret: own.secret,
      isLeader: own.isLeader ?? (() => true),
      demands: {
        names,
        addresses,
        authorityLifetimeMs,
        certificateLifetimeMs,
      },
      overlapMs,
      everyMs,
      serve: ({ serving }) => serve(serving),
      distribute: async (bundle) => {
        const address = addressOf(endpoint, listeningPort ?? port);
        for (const registration of registrationsOf({ name: options.name, address, bundle, webhooks, kinds })) {
          await register(registration, options, memory, signal);
        }
      },
    });
    await keeper.run((isDone) => {
      if (isDone) isReady.resolve();
      hasBegun.resolve();
    }, signal);
  };
  return {
    ready: () => isReady.promise,
    begun: () => hasBegun.promise,
    async run(signal) {
      try {
        if ('secret' in certificates) await runOnSecret(certificates, signal);
        else await runOnFiles(new CertificateFiles({ world, log, ...observed, ...certificates }), signal);
      } finally {
        isReady.reject(new Error('the webhooks were stopped before they were ready'));
        hasBegun.resolve();
        await server.close();
      }
    },
  };
}

function handlersOf(webhooks: readonly Webhook[], kinds: readonly Kind[]): ReadonlyMap<string, ReviewHandler> {
  const handlers = new Map<string, ReviewHandler>();
  if (kinds.length > 0) handlers.set(paths.convert, (review) => conversionReview(kinds, review));
  for (const webhook of webhooks) {
    const { type } = webhook;
    // Both: an API server may still ask what an earlier version of the program answered.
    handlers.set(paths.validate(type), (review, signal) => validationReview(webhook, review, signal));
    handlers.set(paths.mutate(type), (review, signal) => mutationReview(webhook, review, signal));
  }
  return handlers;
}

function reachedBy(endpoint: WebhooksOptions['endpoint']) {
  if ('service' in endpoint) {
    const name = `${endpoint.service.name}.${endpoint.service.namespace}.svc`;
    return { names: [name, `${name}.cluster.local`], addresses: [] };
  }
  return isIP(endpoint.host) === 0
    ? { names: [endpoint.host], addresses: [] }
    : { names: [], addresses: [endpoint.host] };
}

function addressOf(endpoint: WebhooksOptions['endpoint'], port: number): WebhookAddress {
  if ('service' in endpoint) return endpoint;
  const host = isIP(endpoint.host) === 6 ? `[${endpoint.host}]` : endpoint.host;
  return { url: `https://${host}:${port}` };
}

async function register(
  { type, object, whole, isEmpty = false }: Registration,
  { client, name, world }: WebhooksOptions,
  memory: ApplyMemory,
  signal: AbortSignal,
): Promise<void> {
  const existing = await client.find(type, keyOf(object), { signal });
  if (existing === undefined && isEmpty) return;
  if (existing === undefined && whole !== undefined) {
    await client.create(type, whole, { fieldManager: `${name}-webhooks`, signal });
    await untilEstablished(client, keyOf(whole), world);
    return;
  }
  await applyObject(client, type, object, {
    existing,
    isCachedInPart: false,
    fieldManager: `${name}-webhooks`,
    memory,
  });
}
