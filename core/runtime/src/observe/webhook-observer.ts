/** Told of what webhooks do. All parts are optional, and none may throw, but `aroundReview`. */
export interface WebhookObserver {
  /** For each path at which reviews are answered, before the first of them. */
  webhookAdded?(webhook: ObservedWebhook): void;
  /** Wraps each review, as a trace's span does: must call `run` once, and give what it gives. It never rejects. */
  aroundReview?(path: string, run: () => Promise<ReviewEnd>): Promise<ReviewEnd>;
  reviewEnded?(path: string, end: ReviewEnd): void;
  /** From files or from the Secret, each time; `isGood` where it can be served with. */
  certificateRead?(isGood: boolean): void;
}

/** What can be read of the webhook of one path at any time. */
export interface ObservedWebhook {
  readonly path: string;
  /** Reviews that are being answered. */
  inFlight(): number;
}

export interface ReviewEnd {
  /** Of HTTP: 200 for every answer, also one that refuses. */
  readonly status: number;
  readonly tookMs: number;
  /** For a failure what went wrong. */
  readonly message?: string;
}
