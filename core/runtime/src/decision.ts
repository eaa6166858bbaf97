/**
 * What a planner decides for one instance, in one pass. The reason is one sentence for people; it reaches events,
 * status conditions, `castellan plan` and logs.
 *
 * - `step`: do this now.
 * - `wait`: nothing may be done yet; look again after `afterMs` (or earlier, when something watched changes).
 * - `blocked`: a person is needed, and `remedy` says what to do.
 * - `settled`: what is observed is what is desired.
 */
export type Decision<Step> =
  | { readonly kind: 'step'; readonly step: Step; readonly reason: string }
  | { readonly kind: 'wait'; readonly reason: string; readonly afterMs: number }
  | { readonly kind: 'blocked'; readonly reason: string; readonly remedy: string }
  | { readonly kind: 'settled'; readonly reason: string };

export function step<Step>(action: Step, reason: string): Decision<Step> {
  return { kind: 'step', step: action, reason };
}

export function wait(reason: string, afterMs: number): Decision<never> {
  return { kind: 'wait', reason, afterMs };
}

export function blocked(reason: string, remedy: string): Decision<never> {
  return { kind: 'blocked', reason, remedy };
}

export function settled(reason = 'all is as it was asked for'): Decision<never> {
  return { kind: 'settled', reason };
}
