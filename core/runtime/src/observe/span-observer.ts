import type { ManagerObserver } from './manager-observer.js';

/**
 * The part of a `Tracer` of `@opentelemetry/api` that is used here. That package is no dependency: whoever wants traces
 * has it, and passes `trace.getTracer('my-operator')`.
 */
export interface SpanTracer {
  startActiveSpan<T>(
    name: string,
    options: { readonly attributes: Readonly<Record<string, string | number>> },
    work: (span: ActiveSpan) => T,
  ): T;
}

export interface ActiveSpan {
  setAttribute(name: string, value: string | number): unknown;
  setStatus(status: { readonly code: number; readonly message?: string }): unknown;
  end(): void;
}

/** `SpanStatusCode.ERROR` of `@opentelemetry/api`. */
const errorStatusCode = 2;

/** One span per reconcile and per review of a webhook; what these trace is within it. */
export function spanObserver(tracer: SpanTracer): ManagerObserver {
  return {
    around({ controller, key, trigger, id }, run) {
      const attributes = {
        'castellan.controller': controller,
        'castellan.key': key,
        'castellan.trigger': trigger,
        'castellan.reconcile': id,
      };
      return tracer.startActiveSpan(`reconcile ${controller}`, { attributes }, async (span) => {
        const end = await run();
        span.setAttribute('castellan.outcome', end.outcome);
        if (end.message !== undefined) span.setAttribute('castellan.reason', end.message);
        if (end.outcome === 'failed' || end.outcome === 'terminal') {
          span.setStatus({ code: errorStatusCode, ...(end.message !== undefined && { message: end.message }) });
        }
        span.end();
        return end;
      });
    },
    aroundReview(path, run) {
      return tracer.startActiveSpan(`review ${path}`, { attributes: { 'castellan.webhook': path } }, async (span) => {
        const end = await run();
        span.setAttribute('http.response.status_code', end.status);
        if (end.message !== undefined) span.setStatus({ code: errorStatusCode, message: end.message });
        span.end();
        return end;
      });
    },
  };
}
