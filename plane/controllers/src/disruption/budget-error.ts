/** A budget that cannot be worked out as things are: it allows no disruption, and says why. */
export class BudgetError extends Error {
  override readonly name = 'BudgetError';
}
