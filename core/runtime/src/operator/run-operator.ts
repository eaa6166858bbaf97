import type { Client } from '@castellan/client';
import type { World } from '@castellan/world';
import { missingRights } from '../access/check-access.js';
import { requiredRules } from '../access/required-rules.js';
import type { Log } from '../controller.js';
import { errorMessage } from '../error-message.js';
import { createManager, type ManagerOptions } from '../manager/manager.js';
import type { ManagerWebhooks } from '../manager/manager-webhooks.js';
import { type ManagerMetrics, managerMetrics } from '../observe/manager-metrics.js';
import { combineObservers } from '../observe/manager-observer.js';
import { type HealthCheck, type ManagerServerOptions, serveManagers } from '../observe/manager-server.js';
import { installKinds } from './install-kinds.js';
import type { Operator } from './operator.js';
import { hasWebhooks, operatorWebhooks, type WebhookReach } from './operator-webhooks.js';

export interface RunOperatorOptions
  extends Pick<
    ManagerOptions,
    'leaderElection' | 'sharding' | 'namespace' | 'observer' | 'usesWatchList' | 'wholeCache'
  > {
  readonly operator: Operator;
  readonly client: Client;
  readonly world: World;
  readonly log: Log;
  /** `managerMetrics()`, given to `connect({ onReply })` as well: then the requests of `client` are counted with the rest. */
  readonly metrics?: ManagerMetrics;
  /** Where /metrics, /healthz, /readyz and /explain are served; nowhere when absent. */
  readonly listen?: ManagerServerOptions['listen'];
  /** How the API server reaches the operator's webhooks; needed where it has any. */
  readonly webhooks?: WebhookReach;
  readonly readinessChecks?: Readonly<Record<string, HealthCheck>>;
  /**
   * Whether the operator brings its CustomResourceDefinitions along; true by default. Where a Helm chart or a person
   * does that, the operator needs no right to.
   */
  readonly installsKinds?: boolean;
}

/**
 * One process of an operator, from its kinds to its last event, until `signal` aborts: what a `main.ts` is made of. Rejects
 * when a part fails or the lease is lost; the process should then end, and be started anew by whatever runs it.
 */
export async function runOperator(options: RunOperatorOptions, signal: AbortSignal): Promise<void> {
  const {
    operator,
    client,
    world,
    log,
    listen,
    readinessChecks,
    observer,
    installsKinds = true,
    metrics = managerMetrics(),
  } = options;
  const webhooks = webhooksOf(options);
  const manager = createManager({
    client,
    world,
    log,
    controllers: operator.controllers,
    observer: observer === undefined ? metrics : combineObservers(metrics, observer),
    ...(webhooks !== undefined && { webhooks }),
    ...(options.leaderElection !== undefined && { leaderElection: options.leaderElection }),
    ...(options.sharding !== undefined && { sharding: options.sharding }),
    ...(options.namespace !== undefined && { namespace: options.namespace }),
    ...(options.usesWatchList !== undefined && { usesWatchList: options.usesWatchList }),
    ...(options.wholeCache !== undefined && { wholeCache: options.wholeCache }),
  });
  // First, so that those who look see a process that starts.
  const server =
    listen === undefined
      ? undefined
      : await serveManagers({
          managers: () => [manager],
          metrics: metrics.registry,
          listen,
          ...(readinessChecks !== undefined && { readinessChecks }),
        });
  try {
    await warnOfMissingRights(options, signal);
    if (installsKinds) {
      await installKinds(client, operator.customResourceDefinitions, world, operator.convertedKinds);
    }
    await manager.run(signal);
  } finally {
    await server?.close();
  }
}

function webhooksOf({ operator, webhooks }: RunOperatorOptions): ManagerWebhooks | undefined {
  if (webhooks !== undefined) return operatorWebhooks(operator, webhooks);
  if (!hasWebhooks(operator)) return undefined;
  throw new Error(
    `the operator ${operator.name} has webhooks, and it is not known how the API server reaches them: give runOperator \`webhooks: { endpoint: { service: … } }\`, or \`{ endpoint: { host } }\` where the API server runs on this machine`,
  );
}

/** Once, before anything else is tried: a list of all that is missing helps more than one refusal after the other. */
async function warnOfMissingRights(options: RunOperatorOptions, signal: AbortSignal): Promise<void> {
  const { operator, client, log, installsKinds = true, namespace, webhooks, leaderElection, sharding } = options;
  const rules = requiredRules(operator, {
    installsKinds,
    isSharded: sharding !== undefined,
    ...(webhooks !== undefined && { webhooks }),
    ...(leaderElection !== undefined && { leaderElection }),
  });
  const where = namespace === undefined ? {} : { namespace };
  try {
    const missing = await missingRights(client, rules, { ...where, signal });
    if (missing.length === 0) return;
    const list = missing.map(({ what }) => what).join(', ');
    log.error(`this process may not: ${list}; grant the rules of requiredRules() to its service account`, {
      rules: missing.map(({ rule }) => rule),
    });
  } catch (error) {
    signal.throwIfAborted();
    log.warn(`its rights could not be asked for: ${errorMessage(error)}`);
  }
}
