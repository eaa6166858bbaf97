import type { QueueObserver } from '../queue/work-queue.js';
import type { ReviewEnd, WebhookObserver } from './webhook-observer.js';

/**
 * Told of all that a manager does, so that metrics, traces and whatever else looks on need nothing of it. All parts are
 * optional, and none may throw, but `around` and `aroundReview`.
 */
export interface ManagerObserver extends WebhookObserver {
  /** For each controller, before its first key. */
  controllerAdded?(controller: ObservedController): QueueObserver;
  /** Wraps each reconcile, as a trace's span does: must call `run` once, and give what it gives. It never rejects. */
  around?(reconcile: ReconcileStart, run: () => Promise<ReconcileEnd>): Promise<ReconcileEnd>;
  reconcileEnded?(reconcile: ReconcileStart, end: ReconcileEnd): void;
  /** Whether this process holds the lease of that name; told at the start and at each change. */
  leadershipChanged?(lease: string, isLeader: boolean): void;
}

/** What can be read of a controller at any time. */
export interface ObservedController {
  readonly name: string;
  readonly concurrency: number;
  /** Keys that could be given to a worker now. */
  waiting(): number;
  /** Keys that are with a worker. */
  running(): number;
  /** For how long, in ms: of all together and of the longest. */
  unfinished(): { readonly totalMs: number; readonly longestMs: number };
}

export interface ReconcileStart {
  readonly controller: string;
  /** `namespace/name`, or `name` for cluster-scoped objects. */
  readonly key: string;
  /** Why, in words: "pods default/etcd-0 was updated". */
  readonly trigger: string;
  /** Unique within the process; in each line of its log. */
  readonly id: number;
}

export interface ReconcileEnd {
  readonly outcome: 'done' | 'failed' | 'terminal' | 'stopped';
  readonly tookMs: number;
  /** When it is to be looked at again, if nothing changes before. */
  readonly requeueAfterMs?: number;
  readonly isDeadlineMissed: boolean;
  /** The decision's sentence, where it has one; for a failure what went wrong. */
  readonly message?: string;
}

/** Several observers as one. */
export function combineObservers(...observers: readonly ManagerObserver[]): ManagerObserver {
  return {
    controllerAdded(controller) {
      const parts = observers.map((observer) => observer.controllerAdded?.(controller) ?? {});
      return {
        onAdd: (priority) => {
          for (const part of parts) part.onAdd?.(priority);
        },
        onTake: (waitedMs, priority) => {
          for (const part of parts) part.onTake?.(waitedMs, priority);
        },
        onDone: (ranMs) => {
          for (const part of parts) part.onDone?.(ranMs);
        },
        onRetry: () => {
          for (const part of parts) part.onRetry?.();
        },
        onClose: () => {
          for (const part of parts) part.onClose?.();
        },
      };
    },
    around(reconcile, run) {
      return observers.reduceRight<() => Promise<ReconcileEnd>>(
        (inner, observer) => () => observer.around?.(reconcile, inner) ?? inner(),
        run,
      )();
    },
    reconcileEnded(reconcile, end) {
      for (const observer of observers) observer.reconcileEnded?.(reconcile, end);
    },
    leadershipChanged(lease, isLeader) {
      for (const observer of observers) observer.leadershipChanged?.(lease, isLeader);
    },
    webhookAdded(webhook) {
      for (const observer of observers) observer.webhookAdded?.(webhook);
    },
    aroundReview(path, run) {
      return observers.reduceRight<() => Promise<ReviewEnd>>(
        (inner, observer) => () => observer.aroundReview?.(path, inner) ?? inner(),
        run,
      )();
    },
    reviewEnded(path, end) {
      for (const observer of observers) observer.reviewEnded?.(path, end);
    },
    certificateRead(isGood) {
      for (const observer of observers) observer.certificateRead?.(isGood);
    },
  };
}
