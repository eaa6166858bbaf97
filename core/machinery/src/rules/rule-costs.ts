import { type FieldError, fieldError } from '../validation/field-error.js';

/** What one rule, and all rules of a schema, may cost at most by their estimate. */
const unitsPerRule = 10_000_000;
const unitsPerSchema = 100_000_000;
const mostNamed = 4;

/** Sums up what the rules of a schema may cost, and says which cost too much. */
export class RuleCosts {
  private total = 0;
  private readonly expensive: { readonly path: string; readonly units: number }[] = [];

  /** Counts an expression; what is wrong with it, if it alone costs too much. */
  observe(path: string, units: number, name: 'rule' | 'messageExpression'): readonly FieldError[] {
    const field = `${path}.${name}`;
    this.total += units;
    if (units >= unitsPerSchema / 100) this.expensive.push({ path: field, units });
    return units > unitsPerRule
      ? [fieldError.forbidden(field, excess(`estimated ${name} cost`, units / unitsPerRule))]
      : [];
  }

  /** What is wrong with all rules together. */
  totalErrors(path: string): readonly FieldError[] {
    if (this.total <= unitsPerSchema) return [];
    const worst = [...this.expensive].sort((a, b) => b.units - a.units).slice(0, mostNamed);
    const contributed = 'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema';
    const what = 'x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema';
    return [
      ...worst.map((each) => fieldError.forbidden(each.path, contributed)),
      fieldError.forbidden(path, excess(what, this.total / unitsPerSchema)),
    ];
  }
}

const advice =
  '(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)';

function excess(what: string, factor: number): string {
  // Close to one it is told in full: "by factor of 1.0x" would say nothing.
  const shown = factor > 100 ? 'more than 100x' : `${factor.toFixed(factor < 1.5 ? 6 : 1)}x`;
  return `${what} exceeds budget by factor of ${shown} ${advice}`;
}
