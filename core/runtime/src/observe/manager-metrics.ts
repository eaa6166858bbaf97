import type { ManagerObserver, ObservedController, ReconcileEnd } from './manager-observer.js';
import { Metrics } from './metrics.js';
import { webhookMetrics } from './webhook-metrics.js';

/** Upper bounds in seconds, as controller-runtime has them. */
const reconcileBounds = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5, 1.75, 2,
  2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
];
const queueBounds = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 1, 10, 100, 1000];

export interface ManagerMetrics extends ManagerObserver {
  /** Where all is counted; its `text()` is the page for Prometheus. */
  readonly registry: Metrics;
  /** For `connect({ onReply })` of core/client: counts the requests that this process makes. */
  onReply(reply: { readonly method: string; readonly host: string; readonly status: number | undefined }): void;
}

/**
 * Counts what a manager does. Names and labels are those of controller-runtime, client-go's workqueue,
 * rest_client and leader_election, so that dashboards and alerts that were made for them work.
 */
export function managerMetrics(metrics: Metrics = new Metrics()): ManagerMetrics {
  const reconciles = metrics.counter(
    'controller_runtime_reconcile_total',
    'Total number of reconciliations per controller',
  );
  const errors = metrics.counter(
    'controller_runtime_reconcile_errors_total',
    'Total number of reconciliation errors per controller',
  );
  const terminalErrors = metrics.counter(
    'controller_runtime_terminal_reconcile_errors_total',
    'Total number of terminal reconciliation errors per controller',
  );
  const timeouts = metrics.counter(
    'controller_runtime_reconcile_timeouts_total',
    'Total number of reconciliation timeouts per controller',
  );
  const durations = metrics.histogram(
    'controller_runtime_reconcile_time_seconds',
    'Length of time per reconciliation per controller',
    reconcileBounds,
  );
  const adds = metrics.counter('workqueue_adds_total', 'Total number of adds handled by workqueue');
  const waits = metrics.histogram(
    'workqueue_queue_duration_seconds',
    'How long in seconds an item stays in workqueue before being requested',
    queueBounds,
  );
  const works = metrics.histogram(
    'workqueue_work_duration_seconds',
    'How long in seconds processing an item from workqueue takes',
    queueBounds,
  );
  const retries = metrics.counter('workqueue_retries_total', 'Total number of retries handled by workqueue');
  const requests = metrics.counter(
    'rest_client_requests_total',
    'Number of HTTP requests, partitioned by status code, method, and host',
  );
  const controllers: ObservedController[] = [];
  const leases = new Map<string, boolean>();
  const eachController = (read: (controller: ObservedController) => number) => () =>
    controllers.map((controller) => [{ controller: controller.name }, read(controller)] as const);
  const eachQueue = (read: (controller: ObservedController) => number) => () =>
    controllers.map((controller) => [queueLabels(controller.name), read(controller)] as const);
  metrics.gauge(
    'controller_runtime_max_concurrent_reconciles',
    'Maximum number of concurrent reconciles per controller',
    eachController(({ concurrency }) => concurrency),
  );
  metrics.gauge(
    'controller_runtime_active_workers',
    'Number of currently used workers per controller',
    eachController((controller) => controller.running()),
  );
  metrics.gauge(
    'workqueue_depth',
    'Current depth of workqueue',
    eachQueue((controller) => controller.waiting()),
  );
  metrics.gauge(
    'workqueue_unfinished_work_seconds',
    'How many seconds of work has been done that is in progress and has not been observed by work_duration',
    eachQueue((controller) => controller.unfinished().totalMs / 1000),
  );
  metrics.gauge(
    'workqueue_longest_running_processor_seconds',
    'How many seconds has the longest running processor for workqueue been running',
    eachQueue((controller) => controller.unfinished().longestMs / 1000),
  );
  metrics.gauge('leader_election_master_status', 'Whether this process holds the lease: 1 is the leader', () =>
    [...leases].map(([name, isLeader]) => [{ name }, isLeader ? 1 : 0] as const),
  );
  return {
    ...webhookMetrics(metrics),
    registry: metrics,
    controllerAdded(controller) {
      controllers.push(controller);
      const { name } = controller;
      // A rate needs a beginning: series that stay away until the first error make alerts blind to it.
      for (const result of ['success', 'error', 'requeue', 'requeue_after']) {
        reconciles.add({ controller: name, result }, 0);
      }
      for (const counter of [errors, terminalErrors, timeouts]) counter.add({ controller: name }, 0);
      const labels = queueLabels(name);
      return {
        onAdd: () => adds.add(labels),
        onTake: (waitedMs) => waits.observe(labels, waitedMs / 1000),
        onDone: (ranMs) => works.observe(labels, ranMs / 1000),
        onRetry: () => retries.add(labels),
        onClose: () => {
          const index = controllers.indexOf(controller);
          if (index >= 0) controllers.splice(index, 1);
        },
      };
    },
    reconcileEnded({ controller }, end) {
      if (end.outcome === 'stopped') return;
      reconciles.add({ controller, result: resultOf(end) });
      durations.observe({ controller }, end.tookMs / 1000);
      if (end.outcome === 'failed' || end.outcome === 'terminal') errors.add({ controller });
      if (end.outcome === 'terminal') terminalErrors.add({ controller });
      if (end.isDeadlineMissed) timeouts.add({ controller });
    },
    leadershipChanged: (lease, isLeader) => leases.set(lease, isLeader),
    onReply({ method, host, status }) {
      // client-go's word for a request that had no reply.
      requests.add({ code: status === undefined ? '<error>' : String(status), host, method });
    },
  };
}

function queueLabels(name: string) {
  return { name, controller: name };
}

function resultOf({ outcome, requeueAfterMs }: ReconcileEnd): string {
  if (outcome !== 'done') return 'error';
  if (requeueAfterMs === undefined) return 'success';
  return requeueAfterMs === 0 ? 'requeue' : 'requeue_after';
}
