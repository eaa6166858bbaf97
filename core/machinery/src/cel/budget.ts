import { CelCostError } from './cel-error.js';

/**
 * What an expression may still spend, in cel-go's units: about one per step, a tenth per character that is looked at.
 * It bounds time and memory whatever the expression and its input are.
 */
export class CelBudget {
  private spentUnits = 0;
  private readonly limit: number;

  constructor(limit: number) {
    this.limit = limit;
  }

  get spent(): number {
    return Math.ceil(this.spentUnits);
  }

  /** @throws CelCostError when this is more than is left. */
  spend(units: number): void {
    this.spentUnits += units;
    if (this.spentUnits > this.limit) throw new CelCostError();
  }
}

/** Looking at a text or a list costs a tenth of a unit per character or item. */
export const traversalCost = 0.1;
