import type { Metrics } from './metrics.js';
import type { ObservedWebhook, WebhookObserver } from './webhook-observer.js';

/** Upper bounds in seconds: the default ones of Prometheus' clients, which controller-runtime has here. */
const latencyBounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Counts what webhooks do, by the names of controller-runtime; of its certwatcher the reads of certificates. */
export function webhookMetrics(metrics: Metrics): Required<Omit<WebhookObserver, 'aroundReview'>> {
  const requests = metrics.counter(
    'controller_runtime_webhook_requests_total',
    'Total number of admission requests by HTTP status code.',
  );
  const latencies = metrics.histogram(
    'controller_runtime_webhook_latency_seconds',
    'Histogram of the latency of processing admission requests',
    latencyBounds,
  );
  const webhooks: ObservedWebhook[] = [];
  metrics.gauge(
    'controller_runtime_webhook_requests_in_flight',
    'Current number of admission requests being served.',
    () => webhooks.map((webhook) => [{ webhook: webhook.path }, webhook.inFlight()] as const),
  );
  const reads = metrics.counter('certwatcher_read_certificate_total', 'Total number of certificate reads');
  const readErrors = metrics.counter(
    'certwatcher_read_certificate_errors_total',
    'Total number of certificate read errors',
  );
  // A rate needs a beginning, and without webhooks these are zero.
  for (const counter of [reads, readErrors]) counter.add({}, 0);
  return {
    webhookAdded(webhook) {
      webhooks.push(webhook);
      for (const code of ['200', '500']) requests.add({ webhook: webhook.path, code }, 0);
    },
    reviewEnded(path, { status, tookMs }) {
      requests.add({ webhook: path, code: String(status) });
      latencies.observe({ webhook: path }, tookMs / 1000);
    },
    certificateRead(isGood) {
      reads.add({});
      if (!isGood) readErrors.add({});
    },
  };
}
