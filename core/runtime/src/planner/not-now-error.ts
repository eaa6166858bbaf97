/**
 * Thrown by a planner's `act` where the world refuses a step for the moment: that is no failure, but a wait with the world's
 * own words as its reason. The step is planned anew after `afterMs`.
 */
export class NotNowError extends Error {
  override readonly name = 'NotNowError';
  readonly afterMs: number;

  constructor(reason: string, afterMs: number, options?: ErrorOptions) {
    super(reason, options);
    this.afterMs = afterMs;
  }
}
