import type { Clock } from '@castellan/world';
import type { EtcdRefusedError, Refusal } from './admin/errors.js';
import type { EtcdObservation } from './observation.js';

/** etcd refuses to add a member until all voters have been connected for this long (its `HealthInterval`). */
const connectedMs = 5000;
/** We hear of a connection a little after it was made, so we may ask a little before our own count is up. */
const headStartMs = 300;
/** After a refusal. Also how long a learner that etcd calls out of sync is taken to be so. */
const retryMs = 200;

const notConnectedLongEnough = `etcd refuses a change until all members have been connected for ${connectedMs / 1000} s`;

/** Why a step was not done, where etcd's own words need explaining. */
export function sayRefusal(error: EtcdRefusedError): string {
  if (error.refusal === 'unhealthyCluster') return notConnectedLongEnough;
  if (error.refusal === 'learnerNotReady') return "the learner's log is not close enough to the leader's yet";
  return error.message;
}

/**
 * What one operator process knows of one cluster and writes down nowhere: since when each member answers, and what etcd
 * last refused. It only saves useless attempts; losing it costs one refused call.
 */
export class ClusterMemory {
  readonly #clock: Clock;
  readonly #answersSince = new Map<string, number>();
  #isFirstLook = true;
  #refusal: { readonly refusal: Refusal; readonly reason: string; readonly atMs: number } | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Called once per pass with the members that answered. */
  noteAnswers(memberIds: readonly string[]): void {
    // Those who answer when we first look have probably done so for long.
    const since = this.#isFirstLook ? Number.NEGATIVE_INFINITY : this.#clock.monotonicNow();
    for (const id of this.#answersSince.keys()) if (!memberIds.includes(id)) this.#answersSince.delete(id);
    for (const id of memberIds) if (!this.#answersSince.has(id)) this.#answersSince.set(id, since);
    if (memberIds.length > 0) this.#isFirstLook = false;
  }

  noteRefusal(error: EtcdRefusedError): void {
    this.#refusal = { refusal: error.refusal, reason: sayRefusal(error), atMs: this.#clock.monotonicNow() };
  }

  /** Set while etcd would refuse an addition, or did so a moment ago. */
  pause(): EtcdObservation['pause'] {
    const now = this.#clock.monotonicNow();
    const youngest = Math.max(...this.#answersSince.values());
    const forMs = Math.ceil(youngest + connectedMs - headStartMs - now);
    if (forMs > 0) return { reason: notConnectedLongEnough, forMs };
    const refused = this.#recentRefusal(now);
    if (refused === undefined || refused.refusal === 'learnerNotReady') return undefined;
    return { reason: refused.reason, forMs: retryMs };
  }

  /** etcd itself said a moment ago that the learner is behind. */
  wasLearnerBehind(): boolean {
    return this.#recentRefusal(this.#clock.monotonicNow())?.refusal === 'learnerNotReady';
  }

  #recentRefusal(now: number) {
    return this.#refusal !== undefined && now - this.#refusal.atMs < retryMs ? this.#refusal : undefined;
  }
}
