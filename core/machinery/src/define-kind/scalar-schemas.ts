import { type Presence, SchemaBuilder } from './schema-builder.js';

export class StringSchema<P extends Presence = 'required'> extends SchemaBuilder<string, string, P> {
  minLength(characters: number): this {
    return this.with({ minLength: characters });
  }

  maxLength(characters: number): this {
    return this.with({ maxLength: characters });
  }

  /** In Go's syntax (RE2). It matches anywhere unless it begins with `^` and ends with `$`. */
  pattern(expression: string): this {
    return this.with({ pattern: expression });
  }

  /** `date-time`, `duration`, `uri`, `ipv4`, `cidr`, `byte`, `uuid`, …: one that is not known is not checked. */
  format(name: string): this {
    return this.with({ format: name });
  }
}

export class NumberSchema<P extends Presence = 'required'> extends SchemaBuilder<number, number, P> {
  min(minimum: number): this {
    return this.with({ minimum });
  }

  max(maximum: number): this {
    return this.with({ maximum });
  }

  /** Greater than this, not equal to it. */
  above(minimum: number): this {
    return this.with({ minimum, exclusiveMinimum: true });
  }

  /** Less than this, not equal to it. */
  below(maximum: number): this {
    return this.with({ maximum, exclusiveMaximum: true });
  }

  multipleOf(divisor: number): this {
    return this.with({ multipleOf: divisor });
  }

  /** `int32`, `int64`, `float`, `double`. */
  format(name: string): this {
    return this.with({ format: name });
  }
}
